# The data, the JSON, the fits and the profiles that make_glm_reference.R and make_penalised_reference.R share.

suppressPackageStartupMessages({library(MASS); library(nnet); library(glmnet); library(brglm2); library(kernlab)})

# 17 significant digits give back the same double. NaN stands for a coefficient that R leaves out.
json <- function(v) {
  wrap <- function(items, open, close) paste0(open, paste(items, collapse = ","), close)
  if (is.null(v)) return("null")
  if (!length(v)) return("[]")
  if (is.list(v)) return(wrap(paste0('"', names(v), '":', sapply(v, json)), "{", "}"))
  if (is.matrix(v)) return(wrap(apply(v, 1, function(r) json(I(r))), "[", "]"))
  items <- if (is.character(v)) paste0('"', v, '"') else ifelse(is.na(v), "NaN", sprintf("%.17g", v))
  if (length(v) == 1 && !inherits(v, "AsIs")) items else wrap(items, "[", "]")
}
write_numbers <- function(numbers, name) {
  made_by <- list(R = R.version.string)
  for (p in c("MASS", "nnet", "glmnet", "brglm2", "kernlab")) made_by[[p]] <- as.character(packageVersion(p))
  writeLines(json(c(list(made_by = made_by), numbers)), file.path("tests/reference", name))
}

bundled <- function(name) read.csv(file.path("src/discrim/datasets", paste0(name, ".csv")))
challenger <- bundled("challenger")
challenger$distress <- as.integer(challenger$n_distress > 0)
crabs <- bundled("crabs")
crabs$male <- as.integer(crabs$sex == "M")
crabs$orange <- as.integer(crabs$sp == "O")
crabs$group <- factor(paste0(crabs$sp, crabs$sex))
# Columns made from the row number, so that there is a factor of three levels, weights and an offset.
row <- seq_len(nrow(crabs)) - 1
crabs$site <- c("a", "b", "c")[row %% 3 + 1]
crabs$count <- row %% 4
crabs$weight <- 0.3 + (row %% 5) / 4
crabs$shift <- crabs$CL / 20 - 1
crabs$both <- crabs$FL + crabs$RW
flowers <- setNames(iris, c("sepal_length", "sepal_width", "petal_length", "petal_width", "species"))
late <- flowers[51:150, ]
late$virginica <- as.integer(late$species == "virginica")
early <- flowers[1:100, ]
early$versicolor <- as.integer(early$species == "versicolor")
endometrial <- bundled("endometrial")
case_a <- data.frame(x = rep(0:1, each = 10), y = c(rep(0:1, 5), rep(1, 10)))
data(spam, package = "kernlab")
spam <- data.frame(spam[, -58], spam = as.integer(spam$type == "spam"))

tight <- glm.control(epsilon = 1e-14, maxit = 200)
# glm finds an aliased column to within a thousandth of epsilon, so that `tight` would not find any.
loose <- glm.control(epsilon = 1e-8)

# The weights behind R's standard errors are those of the last but one step. Starting again from the
# estimate lets them, too, be those of the estimate.
fitted_glm <- function(call) {
  fit <- suppressWarnings(eval(parse(text = call), globalenv()))
  for (again in 1:4) {
    start <- ifelse(is.na(coef(fit)), 0, coef(fit))
    fit <- suppressWarnings(eval(bquote(update(fit, start = .(start)))))
  }
  fit
}

# Profile limits without interpolation: where the deviance, minimised over the other coefficients, has
# risen by the 95 % point of chi-squared.
exact_profile <- function(fit, level = 0.95) {
  x <- model.matrix(fit)[, !is.na(coef(fit)), drop = FALSE]
  beta <- coef(fit)[!is.na(coef(fit))]
  offset <- if (is.null(fit$offset)) rep(0, nrow(x)) else fit$offset
  spread <- vcov(fit)[names(beta), names(beta)]
  se <- sqrt(diag(spread))
  one <- function(j, side) {
    # The others start where a quadratic likelihood would put them: from elsewhere glm's steps may run away.
    rise <- function(b) {
      start <- beta[-j] + spread[-j, j] / spread[j, j] * (b - beta[j])
      inner <- suppressWarnings(glm.fit(x[, -j, drop = FALSE], fit$y, fit$prior.weights, start = start,
        offset = offset + b * x[, j], family = binomial(), control = tight))
      stopifnot(inner$converged)
      inner$deviance - fit$deviance - qchisq(level, 1)
    }
    far <- beta[j] + side * 2 * se[j]
    while (rise(far) < 0) far <- far + side * se[j]
    uniroot(rise, sort(c(beta[j], far)), tol = 1e-13 * abs(far))$root
  }
  t(sapply(seq_along(beta), function(j) c(one(j, -1), one(j, 1))))
}
