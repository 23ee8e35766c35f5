# Makes the numbers that the tests of logistic regression without a penalty compare with: glm.json
# (stats::glm and what R computes from its fits), spam.json (the same on a larger table) and multinom.json
# (nnet), all in tests/reference.
#
#   Rscript tests/reference/make_glm_reference.R [folder that holds vowel/train.csv and vowel/test.csv]
#
# Run from the root of the repository, with R >= 4, MASS, nnet and kernlab. Without the folder the numbers of
# the vowel data are left out. Every entry keeps the call that made it; coefficients are named as discrim
# names them: the column sp with the levels B and O becomes sp[O].

source("tests/reference/reference_data.R")

our_names <- function(fit, names) {
  for (f in names(fit$xlevels)) for (l in fit$xlevels[[f]]) names[names == paste0(f, l)] <- sprintf("%s[%s]", f, l)
  names
}

drop1_numbers <- function(fit) {
  d <- suppressWarnings(drop1(fit, test = "Chisq"))
  list(term = I(rownames(d)[-1]), df = I(d$Df[-1]), deviance = I(d$Deviance[-1]), aic = I(d$AIC[-1]),
       lrt = I(d$LRT[-1]), p_value = I(d$`Pr(>Chi)`[-1]))
}

diagnostics <- function(fit) {
  list(residuals = list(deviance = residuals(fit, "deviance"), pearson = residuals(fit, "pearson")),
       leverage = hatvalues(fit), cooks = cooks.distance(fit), fitted = fitted(fit))
}

glm_numbers <- function(call, rows = TRUE, likelihood = TRUE, profile = TRUE) {
  fit <- fitted_glm(call)
  t <- summary(fit)$coefficients
  at <- match(names(coef(fit)), rownames(t))
  kept <- !is.na(coef(fit))
  numbers <- list(
    call = call, names = I(our_names(fit, names(coef(fit)))), coef = I(coef(fit)), std_error = I(t[at, 2]),
    statistic = I(t[at, 3]), p_value = I(t[at, 4]), vcov = vcov(fit)[kept, kept, drop = FALSE],
    deviance = deviance(fit), null_deviance = fit$null.deviance, df_residual = fit$df.residual,
    df_null = fit$df.null, wald = confint.default(fit), drop1 = drop1_numbers(fit)
  )
  # BIC() counts rows of weight 0, which nobs() does not.
  if (likelihood) numbers <- c(numbers, list(
    aic = AIC(fit), bic = AIC(fit, k = log(nobs(fit))), loglik = as.numeric(logLik(fit))))
  if (profile) numbers <- c(numbers, list(
    profile = exact_profile(fit), profile90 = exact_profile(fit, 0.9),
    confint = suppressWarnings(suppressMessages(confint(fit)))[kept, , drop = FALSE]))
  if (rows) numbers <- c(numbers, diagnostics(fit))
  numbers
}

# step() from the full model, and forward from the model without terms. BIC counts log(rows) a parameter.
step_numbers <- function(call) {
  fit <- eval(parse(text = call), globalenv())
  empty <- update(fit, . ~ 1)
  n <- nobs(fit)
  one <- function(k, direction) suppressWarnings(
    if (direction == "forward") step(empty, formula(fit), direction = direction, k = k, trace = 0)
    else step(fit, direction = direction, k = k, trace = 0))
  answers <- list(call = call)
  for (criterion in c("aic", "bic")) for (direction in c("both", "backward", "forward")) {
    k <- if (criterion == "aic") 2 else log(n)
    end <- one(k, direction)
    answers[[paste(criterion, direction, sep = "_")]] <- list(
      call = sprintf("step(%s, direction = '%s', k = %s)", if (direction == "forward") "empty" else "fit", direction,
                     if (k == 2) "2" else "log(nobs(fit))"),
      terms = I(attr(terms(end), "term.labels")), criterion = extractAIC(end, k = k)[2],
      names = I(our_names(end, names(coef(end)))), coef = I(coef(end)))
  }
  answers
}

anova_numbers <- function(smaller, larger) {
  a <- anova(fitted_glm(smaller), fitted_glm(larger), test = "Chisq")
  list(call = sprintf("anova(%s, %s, test = 'Chisq')", smaller, larger), df_residual = a$`Resid. Df`,
       residual_deviance = a$`Resid. Dev`, df = a$Df[2], deviance = a$Deviance[2], p_value = a$`Pr(>Chi)`[2])
}

# Every row predicted by the fit without it: probabilities of the second class.
without_each_row <- function(call) {
  fit <- fitted_glm(call)
  x <- model.matrix(fit); offset <- if (is.null(fit$offset)) rep(0, nrow(x)) else fit$offset
  one <- function(i) {
    rest <- suppressWarnings(glm.fit(x[-i, ], fit$y[-i], fit$prior.weights[-i], offset = offset[-i],
                                     family = binomial(), control = tight))
    plogis(sum(x[i, ] * coef(rest)) + offset[i])
  }
  list(call = call, probability = sapply(seq_len(nrow(x)), one))
}

grouped <- "glm(cbind(n_distress, n_orings - n_distress) ~ temperature%s, binomial, challenger, control = tight)"
calls <- list(
  challenger = "glm(distress ~ temperature, binomial, challenger, control = tight)",
  challenger_pressure = "glm(distress ~ temperature + pressure, binomial, challenger, control = tight)",
  challenger_grouped = sprintf(grouped, " + pressure"),
  crabs = "glm(male ~ sp + FL + CL + BD + site, binomial, crabs, control = tight)",
  crabs_forms = "glm(orange ~ RW + CL + CW + sex + site, binomial, crabs, control = tight)",
  iris = "glm(virginica ~ sepal_length + sepal_width + petal_length + petal_width, binomial, late, control = tight)",
  counted = "glm(male ~ sp + FL + RW, binomial, crabs, weights = count, control = tight)",
  weighted = "glm(male ~ sp + FL + RW, binomial, crabs, weights = weight, control = tight)",
  offset = "glm(male ~ sp + FL + RW, binomial, crabs, offset = shift, control = tight)",
  no_intercept = "glm(male ~ 0 + FL + RW + CL, binomial, crabs, control = tight)",
  no_intercept_offset = "glm(male ~ 0 + FL + RW, binomial, crabs, offset = shift, control = tight)",
  aliased = "glm(male ~ FL + RW + both + CL, binomial, crabs, control = loose)"
)
glm_cases <- list()
for (name in names(calls)) glm_cases[[name]] <- glm_numbers(
  calls[[name]], rows = !name %in% c("counted", "no_intercept_offset", "challenger_pressure"),
  likelihood = name != "weighted", profile = name != "aliased")
stepped <- lapply(calls[c("challenger_pressure", "challenger_grouped", "crabs", "crabs_forms", "iris")], step_numbers)

temperatures <- c(31, 50, 53, 55, 60, 65, 70, 75, 80, 81)
rings <- fitted_glm(calls$challenger)
band <- predict(rings, data.frame(temperature = temperatures), se.fit = TRUE)
write_numbers(list(
  cases = glm_cases, step = stepped,
  without_each_row = lapply(calls[c("challenger", "crabs", "offset")], without_each_row),
  anova = list(
    crabs = anova_numbers("glm(male ~ sp + FL, binomial, crabs, control = tight)", calls$crabs),
    challenger_grouped = anova_numbers(sprintf(grouped, ""), calls$challenger_grouped),
    offset = anova_numbers("glm(male ~ sp, binomial, crabs, offset = shift, control = tight)", calls$offset)),
  curve = list(call = "predict(glm(distress ~ temperature, binomial, challenger), type = 'response')",
               temperature = temperatures, link = band$fit, std_error = band$se.fit, probability = plogis(band$fit))
), "glm.json")

spam_call <- "glm(spam ~ ., binomial, spam, control = tight)"
fit <- fitted_glm(spam_call)
table <- summary(fit)$coefficients
marked <- function(c) list(marked = sum(fitted(fit) > c), not_spam = sum(fitted(fit) > c & spam$spam == 0))
write_numbers(list(
  call = spam_call, names = rownames(table), coef = table[, 1], std_error = table[, 2], deviance = deviance(fit),
  null_deviance = fit$null.deviance, df_residual = fit$df.residual, df_null = fit$df.null, aic = AIC(fit),
  bic = BIC(fit), above_0.95 = marked(0.95), above_0.99 = marked(0.99)
), "spam.json")

# multinom stops at a score of about 1e-5. Newton steps with the same likelihood finish its work; what it
# found itself is checked to be as close as that allows.
multinom_numbers <- function(call) {
  fit <- eval(parse(text = call), globalenv())
  x <- model.matrix(fit); y <- model.response(model.frame(fit)); w <- as.vector(fit$weights)
  target <- sapply(levels(y), function(l) as.numeric(y == l))
  q <- ncol(x); k <- nlevels(y) - 1
  theta <- as.vector(t(coef(fit)))
  parts <- function(theta) {
    eta <- cbind(0, x %*% matrix(theta, q))
    p <- exp(eta - apply(eta, 1, max)); p <- p / rowSums(p)
    h <- matrix(0, k * q, k * q)
    for (a in 1:k) for (b in 1:k) h[(a - 1) * q + 1:q, (b - 1) * q + 1:q] <-
      crossprod(x, w * p[, a + 1] * ((a == b) - p[, b + 1]) * x)
    list(p = p, hessian = h, score = as.vector(crossprod(x, w * (target - p)[, -1])))
  }
  for (newton in 1:6) { at <- parts(theta); theta <- theta + solve(at$hessian, at$score) }
  at <- parts(theta)
  stopifnot(max(abs(at$score)) < 1e-8, max(abs(theta - t(coef(fit))) / sqrt(diag(solve(at$hessian)))) < 1e-4)
  deviance <- -2 * sum(w * log(rowSums(target * at$p)))
  stopifnot(abs(deviance - fit$deviance) < 1e-6 * deviance)
  vcov <- solve(at$hessian)
  list(call = call, classes = levels(y), columns = I(our_names(fit, colnames(x))),
       coef = matrix(theta, k, byrow = TRUE), std_error = matrix(sqrt(diag(vcov)), k, byrow = TRUE),
       vcov = vcov, deviance = deviance, edf = fit$edf,
       aic = deviance + 2 * fit$edf, fitted = at$p[seq(1, nrow(x), by = 10), ],
       by_multinom = list(coef = coef(fit), std_error = summary(fit)$standard.errors, deviance = fit$deviance,
                          aic = fit$AIC))
}

control <- "maxit = 100000, abstol = 0, reltol = 1e-25, trace = FALSE, Hess = TRUE)"
multinom_cases <- list(
  crabs = "multinom(group ~ FL + RW, crabs,",
  crabs_site = "multinom(group ~ FL + RW + site, crabs,",
  crabs_to_om = "multinom(relevel(group, 'OM') ~ FL + RW, crabs,",
  weighted = "multinom(group ~ FL + RW, crabs, weights = weight,",
  no_intercept = "multinom(group ~ 0 + FL + RW, crabs,",
  iris = "multinom(species ~ sepal_length, flowers,"
)
answers <- lapply(multinom_cases, function(call) multinom_numbers(paste(call, control)))
vowel_numbers <- function(folder) {
  read <- function(part) { v <- read.csv(file.path(folder, "vowel", paste0(part, ".csv"))); v$y <- factor(v$y); v }
  train <- read("train"); test <- read("test")
  call <- paste("multinom(y ~ ., train, MaxNWts = 2000,", sub("Hess = TRUE", "Hess = FALSE", control))
  fit <- eval(parse(text = call))
  list(call = call, deviance = fit$deviance, aic = fit$AIC, coef = coef(fit),
       error = c(mean(predict(fit) != train$y), mean(predict(fit, test) != test$y)))
}
folder <- commandArgs(trailingOnly = TRUE)
if (length(folder)) answers$vowel <- vowel_numbers(folder[1])
write_numbers(answers, "multinom.json")
