# Makes tests/reference/mass.json: the numbers that test_mass.py compares with.
#
#   Rscript tests/reference/make_reference.R [folder that holds vowel/train.csv and vowel/test.csv]
#
# Run from the root of the repository, with R >= 4 and MASS. Without the folder the numbers of the
# vowel data are left out. Rows and classes are counted from 0; classes are codes of `classes`.

suppressPackageStartupMessages(library(MASS))

# 17 significant digits give back the same double, which the JSON packages of R do not promise.
json <- function(v) {
  wrap <- function(items, open, close) paste0(open, paste(items, collapse = ","), close)
  if (is.list(v)) return(wrap(paste0('"', names(v), '":', sapply(v, json)), "{", "}"))
  if (is.matrix(v)) return(wrap(apply(v, 1, json), "[", "]"))
  items <- if (is.character(v)) paste0('"', v, '"') else sprintf("%.17g", v)
  if (length(v) == 1) items else wrap(items, "[", "]")
}

# What predict says of a fit by lda or qda.
posterior <- function(fit, newdata, ...) answer(predict(fit, newdata, ...))

cross_validated <- function(fitter, x, g, rows = seq_along(g), ...) {
  answer(fitter(x, g, CV = TRUE, ...), rows)
}

answer <- function(out, rows = seq_along(out$class)) {
  list(posterior = out$posterior[rows, ], class = as.integer(out$class)[rows] - 1)
}

# Leave-one-out by really fitting n - 1 rows. With `...` empty the priors are the proportions among
# the rows that are left; with prior = they are given and stay the same.
refitted <- function(fitter, x, g, rows, ...) {
  one <- function(i) predict(fitter(x[-i, ], g[-i], ...), x[i, , drop = FALSE])$posterior
  list(row = rows - 1, posterior = t(sapply(rows, one)))
}

lda_numbers <- function(x, g, prior, rows) {
  fit <- lda(x, g)
  tilted <- lda(x, g, prior = prior)
  mle <- lda(x, g, method = "mle")
  same <- as.vector(table(g)) / length(g)
  c(list(
    means = fit$means, prior = fit$prior, scaling = fit$scaling,
    svd = fit$svd, trace = fit$svd^2 / sum(fit$svd^2), scores = predict(fit, x[1:10, ])$x
  ), posterior(fit, x), list(
    given_prior = c(list(prior = prior, scaling = tilted$scaling, svd = tilted$svd),
                    posterior(tilted, x)),
    mle = c(list(scaling = mle$scaling, svd = mle$svd), posterior(mle, x)),
    dimen1 = posterior(fit, x, dimen = 1),
    cv = cross_validated(lda, x, g),
    cv_given_prior = cross_validated(lda, x, g, rows, prior = prior),
    cv_mle = cross_validated(lda, x, g, rows, method = "mle"),
    refit = refitted(lda, x, g, rows),
    refit_same_prior = refitted(lda, x, g, rows, prior = same),
    refit_mle_same_prior = refitted(lda, x, g, rows, prior = same, method = "mle")
  ))
}

qda_numbers <- function(x, g, prior, rows) {
  fit <- qda(x, g)
  same <- as.vector(table(g)) / length(g)
  c(list(ldet = fit$ldet), posterior(fit, x), list(
    given_prior = c(list(prior = prior), posterior(qda(x, g, prior = prior), x)),
    mle = posterior(qda(x, g, method = "mle"), x),
    cv = cross_validated(qda, x, g),
    cv_mle = cross_validated(qda, x, g, rows, method = "mle"),
    refit = refitted(qda, x, g, rows),
    refit_same_prior = refitted(qda, x, g, rows, prior = same),
    refit_mle_same_prior = refitted(qda, x, g, rows, prior = same, method = "mle")
  ))
}

# Classes of 30, 50 and 40 rows: here the class sizes in the leave-one-out formulas differ.
unequal_numbers <- function(x, g, rows) {
  fit <- lda(x, g)
  list(scaling = fit$scaling, svd = fit$svd, lda = posterior(fit, x),
       lda_cv = cross_validated(lda, x, g), qda_cv = cross_validated(qda, x, g),
       lda_refit = refitted(lda, x, g, rows), qda_refit = refitted(qda, x, g, rows))
}

# The other ways of predict.lda and predict.qda, at some rows. `right` has the same by definition, in base R: the
# Student-t that the Gaussian is on average over its posterior, and the unbiased estimate of its logarithm.
method_numbers <- function(x, g, rows) {
  u <- x[rows, , drop = FALSE]
  at <- function(fit, method) predict(fit, u, method = method)$posterior
  list(
    row = rows - 1,
    mass = list(lda_debiased = at(lda(x, g), "debiased"), qda_debiased = at(qda(x, g), "debiased"),
                lda_predictive = at(lda(x, g), "predictive"),
                qda_mle_predictive = at(qda(x, g, method = "mle"), "predictive")),
    right = list(lda_debiased = averaged(x, g, u, unbiased, TRUE), qda_debiased = averaged(x, g, u, unbiased, FALSE),
                 lda_predictive = averaged(x, g, u, student, TRUE), qda_predictive = averaged(x, g, u, student, FALSE))
  )
}
averaged <- function(x, g, u, log_density, pooled) {
  scatter <- lapply(levels(g), function(k) crossprod(scale(x[g == k, , drop = FALSE], scale = FALSE)))
  score <- sapply(seq_along(levels(g)), function(k) {
    own <- x[g == levels(g)[k], , drop = FALSE]
    s <- if (pooled) Reduce(`+`, scatter) else scatter[[k]]
    m <- if (pooled) nrow(x) - nlevels(g) else nrow(own) - 1
    log(nrow(own) / nrow(x)) + log_density(u, colMeans(own), s, m, nrow(own))
  })
  exp(score - apply(score, 1, function(s) max(s) + log(sum(exp(s - max(s))))))
}
student <- function(u, centre, s, m, n) {
  p <- ncol(u); df <- m - p + 1; sigma <- s * (1 + 1 / n) / df
  lgamma((df + p) / 2) - lgamma(df / 2) - p / 2 * log(df * pi) - log(det(sigma)) / 2 -
    (df + p) / 2 * log1p(mahalanobis(u, centre, sigma) / df)
}
unbiased <- function(u, centre, s, m, n) {
  p <- ncol(u)
  distance <- (m - p - 1) / m * mahalanobis(u, centre, s / m) - p / n
  log_det <- log(det(s)) - p * log(2) - sum(digamma((m + 1 - 1:p) / 2))
  -p / 2 * log(2 * pi) - (log_det + distance) / 2
}

# Naive Bayes by dnorm: class means and standard deviations column by column.
naive_bayes <- function(x, g, divisor) {
  score <- sapply(levels(g), function(k) {
    z <- x[g == k, ]
    n <- nrow(z)
    sd_k <- sqrt(apply(z, 2, var) * (n - 1) / divisor(n))
    rowSums(sapply(seq_len(ncol(x)), function(j) dnorm(x[, j], mean(z[, j]), sd_k[j], log = TRUE))) +
      log(n / nrow(x))
  })
  exp(score - apply(score, 1, function(s) max(s) + log(sum(exp(s - max(s))))))
}

# Tests of equal means, canonical correlations and the correlations of columns with coordinates.
canonical_numbers <- function(x, g) {
  y <- model.matrix(~ g - 1)
  wilks <- summary(manova(x ~ g), test = "Wilks")$stats["g", ]
  z <- predict(lda(x, g))$x
  centre <- function(m) m - apply(m, 2, function(v) ave(v, g))
  list(
    wilks = wilks[["Wilks"]], approx_f = wilks[["approx F"]],
    df1 = wilks[["num Df"]], df2 = wilks[["den Df"]],
    canonical_correlations = cancor(x, y[, -1])$cor,
    structure_total = cor(x, z), structure_within = cor(centre(x), centre(z))
  )
}

# Regression of the K indicators on the columns; the table is that of the second class.
indicator_numbers <- function(x, g) {
  fit <- lm((model.matrix(~ g - 1)) ~ x)
  table <- summary(fit)[[2]]$coefficients
  list(coef = coef(fit), class = max.col(fitted(fit), "first") - 1,
       second_class = list(std_error = table[, 2], t = table[, 3], p = table[, 4]))
}

vowel_numbers <- function(folder) {
  read <- function(part) read.csv(file.path(folder, "vowel", paste0(part, ".csv")))
  train <- read("train"); test <- read("test")
  x <- as.matrix(train[, 1:10]); u <- as.matrix(test[, 1:10])
  g <- factor(train$y); h <- factor(test$y)
  error <- function(class, truth) mean(as.character(class) != as.character(truth))
  both <- function(fit, ...) c(error(predict(fit, x, ...)$class, g), error(predict(fit, u, ...)$class, h))
  own <- function(fit) sum(log(predict(fit, u)$posterior[cbind(seq_along(h), as.integer(h))]))
  linear <- lm((model.matrix(~ g - 1)) ~ x)
  choose <- function(m) levels(g)[max.col(cbind(1, m) %*% coef(linear), "first")]
  l <- lda(x, g); q <- qda(x, g)
  list(
    svd = l$svd, trace = l$svd^2 / sum(l$svd^2), lda_loglik_test = own(l), qda_loglik_test = own(q),
    indicator_error = c(error(choose(x), g), error(choose(u), h)),
    lda_error = both(l), qda_error = both(q), qda_ldet = q$ldet,
    reduced_rank_error = t(sapply(1:10, function(d) both(l, dimen = d))),
    lda_cv_error = error(lda(x, g, CV = TRUE)$class, g), qda_cv_error = error(qda(x, g, CV = TRUE)$class, g)
  )
}

iris_x <- as.matrix(iris[, 1:4]); iris_g <- iris$Species
crabs_x <- as.matrix(log(crabs[, 4:8])); crabs_g <- factor(paste0(crabs$sp, crabs$sex))
iris_rows <- c(1, 42, 51, 69, 71, 73, 78, 84, 99, 101, 107, 119, 120, 130, 132, 134, 135, 139, 142, 150)
crabs_rows <- c(1:7, 10, 12, 16, 51, 55, 100, 101, 125, 150:153, 161, 175, 200)

numbers <- list(
  made_by = list(R = R.version.string, MASS = as.character(packageVersion("MASS"))),
  iris = list(
    classes = levels(iris_g),
    lda = lda_numbers(iris_x, iris_g, c(.2, .3, .5), iris_rows),
    qda = qda_numbers(iris_x, iris_g, c(.2, .3, .5), iris_rows),
    rows_20_to_139 = unequal_numbers(iris_x[21:140, ], iris_g[21:140], seq(1, 120, by = 6)),
    methods = method_numbers(iris_x, iris_g, iris_rows),
    methods_of_petals = method_numbers(iris_x[, 3:4], iris_g, iris_rows),
    methods_of_rows_20_to_139 = method_numbers(iris_x[21:140, ], iris_g[21:140], seq(1, 120, by = 6)),
    naive_bayes = list(unbiased = naive_bayes(iris_x, iris_g, function(n) n - 1),
                       mle = naive_bayes(iris_x, iris_g, function(n) n)),
    canonical = canonical_numbers(iris_x, iris_g),
    indicator = indicator_numbers(iris_x, iris_g)
  ),
  crabs = list(
    classes = levels(crabs_g),
    lda = lda_numbers(crabs_x, crabs_g, c(.1, .2, .3, .4), crabs_rows),
    qda = qda_numbers(crabs_x, crabs_g, c(.1, .2, .3, .4), crabs_rows),
    methods = method_numbers(crabs_x, crabs_g, crabs_rows),
    canonical = canonical_numbers(crabs_x, crabs_g)
  )
)
folder <- commandArgs(trailingOnly = TRUE)
if (length(folder)) numbers$vowel <- vowel_numbers(folder[1])
writeLines(json(numbers), "tests/reference/mass.json")
