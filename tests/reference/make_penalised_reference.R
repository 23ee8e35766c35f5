# Makes the numbers that the tests of penalised logistic regression compare with: glmnet.json (glmnet) and
# firth.json (brglm2, and profiles of the penalised likelihood), both in tests/reference.
#
#   Rscript tests/reference/make_penalised_reference.R FOLDER
#
# FOLDER is sklearn/datasets/data of an installed scikit-learn: breast_cancer.csv and wine_data.csv are in
# it. Run from the root of the repository, with R >= 4, glmnet and brglm2. Every entry keeps its call.

source("tests/reference/reference_data.R")

folder <- commandArgs(trailingOnly = TRUE)[1]
wheel <- function(name) as.matrix(read.csv(file.path(folder, name), skip = 1, header = FALSE))
cancer <- wheel("breast_cancer.csv")
wine <- wheel("wine_data.csv")
cancer_x <- cancer[, 1:30]; cancer_y <- cancer[, 31]
wine_x <- wine[, 1:13]; wine_y <- factor(wine[, 14])
crabs_x <- as.matrix(crabs[, c("FL", "RW", "CL", "CW", "BD")]); crabs_y <- crabs$male
lambdas <- 0.4 * 10^(-(0:6) / 2)
few <- c(0.1, 0.03, 0.01, 0.003)
fine <- "thresh = 1e-26, maxit = 1e7)"

# coef: lambdas x columns, or lambdas x classes x columns.
path_numbers <- function(call, fit = eval(parse(text = call), globalenv())) {
  stopifnot(fit$jerr == 0)
  beta <- if (is.list(fit$beta)) {
    at <- function(i) t(sapply(fit$beta, function(b) b[, i]))
    setNames(lapply(seq_along(fit$lambda), at), seq_along(fit$lambda))
  } else t(as.matrix(fit$beta))
  list(call = call, lambda = fit$lambda, intercept = if (is.matrix(fit$a0)) t(fit$a0) else fit$a0, coef = beta,
       dev_ratio = fit$dev.ratio, nulldev = fit$nulldev)
}

penalised <- list(
  cancer_lasso = "glmnet(cancer_x, cancer_y, 'binomial', lambda = lambdas,",
  cancer_net = "glmnet(cancer_x, cancer_y, 'binomial', alpha = 0.5, lambda = lambdas,",
  cancer_ridge = "glmnet(cancer_x, cancer_y, 'binomial', alpha = 0, lambda = lambdas,",
  crabs_lasso_raw = "glmnet(crabs_x, crabs_y, 'binomial', lambda = few, standardize = FALSE,",
  crabs_net_raw = "glmnet(crabs_x, crabs_y, 'binomial', alpha = 0.5, lambda = few, standardize = FALSE,",
  crabs_ridge_raw = "glmnet(crabs_x, crabs_y, 'binomial', alpha = 0, lambda = few, standardize = FALSE,",
  crabs_weighted = "glmnet(crabs_x, crabs_y, 'binomial', lambda = few, weights = crabs$weight,",
  crabs_weighted_raw =
    "glmnet(crabs_x, crabs_y, 'binomial', lambda = few, weights = crabs$weight, standardize = FALSE,",
  crabs_no_intercept = "glmnet(crabs_x, crabs_y, 'binomial', lambda = few, intercept = FALSE,",
  crabs_no_intercept_raw = "glmnet(crabs_x, crabs_y, 'binomial', lambda = few, intercept = FALSE, standardize = FALSE,",
  wine_lasso = "glmnet(wine_x, wine_y, 'multinomial', lambda = few,",
  wine_net = "glmnet(wine_x, wine_y, 'multinomial', alpha = 0.5, lambda = few,",
  wine_lasso_raw = "glmnet(wine_x, wine_y, 'multinomial', lambda = few, standardize = FALSE,",
  wine_ridge_raw = "glmnet(wine_x, wine_y, 'multinomial', alpha = 0, lambda = few, standardize = FALSE,"
)
# By default glmnet holds probabilities 1e-9 away from 0 and 1, and deviances of folds 1e-5.
glmnet.control(pmin = 1e-15)

# `cvm_plain` and `cvsd_plain` are the same figures from the folds' own probabilities, not cut at 1e-5.
cv_numbers <- function(call) {
  fit <- eval(parse(text = sub(")$", ", keep = TRUE)", call)), globalenv())
  list(call = call, lambda = fit$lambda, cvm = fit$cvm, cvsd = fit$cvsd, lambda_min = fit$lambda.min,
       lambda_1se = fit$lambda.1se, nzero = as.integer(fit$nzero), fold = fit$foldid - 1)
}
plain <- function(call, y, w = rep(1, length(y))) {
  fit <- eval(parse(text = sub(")$", ", keep = TRUE)", call)), globalenv())
  eta <- fit$fit.preval[, seq_along(fit$lambda)]
  dev <- 2 * (log1p(exp(-abs(eta))) + pmax(eta, 0) - y * eta)
  size <- as.vector(tapply(w, fit$foldid, sum))
  means <- apply(dev, 2, function(d) tapply(w * d, fit$foldid, sum)) / size
  cvm <- colSums(means * size) / sum(size)
  cvsd <- sqrt(colSums(sweep(means, 2, cvm)^2 * size) / sum(size) / (length(size) - 1))
  list(cvm_plain = cvm, cvsd_plain = cvsd)
}
folds <- function(n, k) (seq_len(n) - 1) %% k + 1
grid <- 0.3 * 10^(-(0:15) / 5)
crossed <- list(
  cancer_lasso = "cv.glmnet(cancer_x, cancer_y, family = 'binomial', lambda = grid, foldid = folds(569, 5),",
  cancer_net =
    "cv.glmnet(cancer_x, cancer_y, family = 'binomial', alpha = 0.5, lambda = grid, foldid = folds(569, 10),",
  crabs_raw =
    "cv.glmnet(crabs_x, crabs_y, family = 'binomial', lambda = grid, foldid = folds(200, 7), standardize = FALSE,",
  crabs_weighted =
    "cv.glmnet(crabs_x, crabs_y, family = 'binomial', lambda = grid, foldid = folds(200, 7), weights = crabs$weight,"
)
cv_cases <- list()
for (name in names(crossed)) {
  call <- paste(crossed[[name]], "type.measure = 'deviance',", fine)
  y <- if (grepl("cancer", name)) cancer_y else crabs_y
  w <- if (grepl("weighted", name)) crabs$weight else rep(1, length(y))
  cv_cases[[name]] <- c(cv_numbers(call), plain(call, y, w))
}
own_grid <- "glmnet(cancer_x, cancer_y, 'binomial', nlambda = 20)"
write_numbers(list(
  paths = lapply(penalised, function(call) path_numbers(paste(call, fine))), cv = cv_cases,
  own_grid = list(call = own_grid, lambda = eval(parse(text = own_grid))$lambda)
), "glmnet.json")

# The likelihood times the square root of the determinant of the information, with the coefficients in
# `held` kept at their values: its score is x'(y - m p + h (1/2 - p)). Newton steps take the slope of
# the score from differences; where it is no hill yet, the information stands in for it.
penalised_fit <- function(x, s, m, beta, held = integer()) {
  free <- setdiff(seq_along(beta), held)
  value <- function(beta) {
    eta <- as.vector(x %*% beta); p <- plogis(eta); v <- m * p * plogis(-eta)
    info <- crossprod(x, v * x)
    if (!all(is.finite(info)) || rcond(info) < 1e-17) return(list(loglik = -Inf))
    h <- v * rowSums((x %*% solve(info, tol = 0)) * x)
    list(loglik = sum(s * eta) - sum(m * (pmax(eta, 0) + log1p(exp(-abs(eta))))) + determinant(info)$modulus[1] / 2,
         score = as.vector(crossprod(x, s - m * p + h * (0.5 - p))), info = info)
  }
  step <- function(at, beta) {
    info <- at$info[free, free, drop = FALSE]
    width <- 1e-5 / sqrt(diag(info))
    slope <- -sapply(seq_along(free), function(k) {
      e <- replace(0 * beta, free[k], width[k])
      (value(beta + e)$score - value(beta - e)$score)[free] / (2 * width[k])
    })
    slope <- (slope + t(slope)) / 2
    hill <- all(is.finite(slope)) && min(eigen(slope * outer(width, width), TRUE, TRUE)$values) > 0
    d <- as.vector(solve(if (hill) slope else info, at$score[free], tol = 0))
    d * min(1, 3 / max(abs(x[, free, drop = FALSE] %*% d)))
  }
  at <- value(beta)
  for (iteration in 1:200) {
    if (!length(free)) break
    d <- step(at, beta)
    if (all(abs(d) < 1e-14 * (abs(beta[free]) + 1e-3))) break
    repeat {
      trial <- replace(beta, free, beta[free] + d)
      after <- value(trial)
      if (after$loglik >= at$loglik - 1e-13 * abs(at$loglik)) break
      d <- d / 2
    }
    beta <- trial; at <- after
  }
  stopifnot(!length(free) || max(abs(at$score[free]) / sqrt(diag(at$info))[free]) < 1e-8)
  c(at, list(beta = beta))
}

# Where two classes are wholly separated by several columns the penalised likelihood has more than one
# hill once a coefficient is held, and its profile depends on the hill: then only the estimate is kept.
firth_numbers <- function(call, profile = TRUE) {
  fit <- suppressWarnings(eval(parse(text = call), globalenv()))
  x <- model.matrix(fit); m <- fit$prior.weights; s <- fit$y * m
  best <- penalised_fit(x, s, m, coef(fit))
  se <- sqrt(diag(solve(best$info)))
  stopifnot(max(abs(best$beta - coef(fit)) / se) < 1e-7, max(abs(se / summary(fit)$coefficients[, 2] - 1)) < 1e-6)
  numbers <- list(
    call = call, names = names(coef(fit)), coef = best$beta, std_error = se, penalised_loglik = best$loglik,
    by_brglm2 = list(coef = coef(fit), std_error = summary(fit)$coefficients[, 2]))
  if (!profile) return(numbers)
  # The others start where the likelihood, were it quadratic, would put them.
  rise <- function(b, j) {
    start <- best$beta
    start[-j] <- start[-j] - solve(best$info[-j, -j, drop = FALSE], best$info[-j, j]) * (b - start[j])
    start[j] <- b
    2 * (best$loglik - penalised_fit(x, s, m, start, j)$loglik)
  }
  limit <- function(j, side) {
    far <- best$beta[j] + side * 2 * se[j]
    while (rise(far, j) < qchisq(0.95, 1)) far <- far + side * se[j]
    uniroot(function(b) rise(b, j) - qchisq(0.95, 1), sort(c(best$beta[j], far)), tol = 1e-13 * abs(far))$root
  }
  each <- seq_along(best$beta)
  lrt <- sapply(each, function(j) rise(0, j))
  c(numbers, list(profile = t(sapply(each, function(j) c(limit(j, -1), limit(j, 1)))), lrt = lrt,
                  p_value = pchisq(lrt, 1, lower.tail = FALSE)))
}

firth <- "method = 'brglmFit', type = 'AS_mean', epsilon = 1e-13, maxit = 10000)"
reduced <- list(
  case_a = "glm(y ~ x, binomial, case_a,",
  endometrial = "glm(HG ~ NV + PI + EH, binomial, endometrial,",
  challenger = "glm(distress ~ temperature, binomial, challenger,",
  challenger_grouped = "glm(cbind(n_distress, n_orings - n_distress) ~ temperature + pressure, binomial, challenger,",
  iris_petal = "glm(versicolor ~ petal_length, binomial, early,",
  iris = "glm(versicolor ~ sepal_length + sepal_width + petal_length + petal_width, binomial, early,"
)
numbers <- list()
for (name in names(reduced)) numbers[[name]] <- firth_numbers(paste(reduced[[name]], firth), profile = name != "iris")
# With the coefficient of NV at infinity the rows of NV = 1 are fitted for certain. The others are what is left.
calm <- subset(endometrial, NV == 0)
left <- "glm(HG ~ PI + EH, binomial, calm, control = tight)"
fit <- fitted_glm(left)
# From infinity the coefficient of NV can fall until the deviance has risen by the 95 % point of chi-squared.
falls_to <- uniroot(function(b) {
  held <- glm(HG ~ PI + EH + offset(b * NV), binomial, endometrial, control = tight)
  deviance(held) - deviance(fit) - qchisq(0.95, 1)
}, c(0, 10), tol = 1e-12)$root
lost <- sapply(c(NV = "glm(HG ~ PI + EH, binomial, endometrial, control = tight)",
                 PI = "glm(HG ~ EH, binomial, calm, control = tight)",
                 EH = "glm(HG ~ PI, binomial, calm, control = tight)"), function(call) deviance(fitted_glm(call)))
numbers$endometrial_ml <- list(
  call = left, names = names(coef(fit)), coef = coef(fit), std_error = sqrt(diag(vcov(fit))), deviance = deviance(fit),
  profile = exact_profile(fit), nv_falls_to = falls_to, drop1 = list(term = names(lost), lrt = lost - deviance(fit)))
write_numbers(numbers, "firth.json")
