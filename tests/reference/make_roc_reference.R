# Makes the numbers that the tests of the ROC curve compare with: roc.json, in tests/reference.
#
#   Rscript tests/reference/make_roc_reference.R
#
# Run from the root of the repository, with R >= 4, pROC and jsonlite. The data are columns of iris (versicolor
# against virginica) and of the endometrial table; every entry keeps the call that made it.

suppressMessages(library(pROC))

flowers <- subset(iris, Species != "setosa")
labels <- as.integer(flowers$Species == "virginica")
womb <- read.csv("src/discrim/datasets/endometrial.csv")

curve <- function(y, score) {
  r <- roc(y, score, levels = c(0, 1), direction = "<", quiet = TRUE)
  list(auc = as.numeric(auc(r)), variance = var(r, method = "delong"),
       ci95 = as.numeric(ci.auc(r, method = "delong"))[c(1, 3)],
       ci80 = as.numeric(ci.auc(r, method = "delong", conf.level = 0.8))[c(1, 3)])
}

pair <- function(y, a, b) {
  ra <- roc(y, a, levels = c(0, 1), direction = "<", quiet = TRUE)
  rb <- roc(y, b, levels = c(0, 1), direction = "<", quiet = TRUE)
  t <- roc.test(ra, rb, method = "delong", paired = TRUE)
  list(statistic = as.numeric(t$statistic), p_value = as.numeric(t$p.value), auc = as.numeric(t$estimate),
       ci = as.numeric(t$conf.int))
}

# Points of the curve, parts of its area, tests of other rows and of the bootstrap, for sepal length and width.
points <- function() {
  of <- function(score, rows = TRUE, ...) roc(labels[rows], score[rows], levels = c(0, 1), direction = "<", quiet = TRUE, ...)
  r <- of(flowers$Sepal.Length); width <- of(flowers$Sepal.Width)
  half <- of(flowers$Petal.Width, seq(1, 100, 2))
  at <- c("threshold", "specificity", "sensitivity")
  all <- c(at, "accuracy", "ppv", "npv")
  part <- function(...) as.numeric(auc(r, partial.auc = c(...), partial.auc.focus = focus, partial.auc.correct = correct))
  parts <- list()
  for (focus in c("specificity", "sensitivity")) for (correct in c(FALSE, TRUE))
    parts <- c(parts, list(list(focus = focus, correct = correct, high = part(1, 0.8), low = part(0.9, 0.3))))
  test <- function(...) {
    set.seed(1)
    t <- roc.test(..., progress = "none")
    list(statistic = as.numeric(t$statistic), p_value = as.numeric(t$p.value), df = as.numeric(t$parameter))
  }
  many <- 20000
  set.seed(1)
  list(
    youden = as.matrix(coords(r, "best", ret = all)),
    closest = as.matrix(coords(r, "best", best.method = "closest.topleft", ret = all)),
    weighted = as.matrix(coords(r, "best", best.weights = c(3, 0.2), ret = at)),
    weighted_closest = as.matrix(coords(r, "best", best.method = "closest.topleft", best.weights = c(3, 0.2), ret = at)),
    specificity = as.matrix(coords(r, c(0.9, 0.95, 0.88, 0.05, 0, 1), input = "specificity", ret = at)),
    sensitivity = as.matrix(coords(r, c(0.9, 0.8, 0.44, 0.05, 1), input = "sensitivity", ret = at)),
    threshold = as.matrix(coords(r, c(6.05, 6.25), input = "threshold", ret = all)),
    parts = parts,
    unpaired = test(r, half, method = "delong", paired = FALSE),
    bootstrap = test(r, width, method = "bootstrap", boot.n = many),
    bootstrap_unpaired = test(r, half, method = "bootstrap", paired = FALSE, boot.n = many),
    bootstrap_partial = test(of(flowers$Sepal.Length, partial.auc = c(1, 0.8)),
                             of(flowers$Sepal.Width, partial.auc = c(1, 0.8)), method = "bootstrap", boot.n = many),
    ci_se = ci.se(r, c(0.9, 0.8), boot.n = many, progress = "none")[, c(1, 3)],
    ci_sp = ci.sp(r, c(0.9, 0.8), boot.n = many, progress = "none")[, c(1, 3)],
    ci_partial = as.numeric(ci.auc(of(flowers$Sepal.Length, partial.auc = c(1, 0.8)), boot.n = many,
                                   progress = "none"))[c(1, 3)])
}

numbers <- list(
  iris = list(
    call = "roc(virginica, column, direction = '<'); roc.test(sepal length, petal width, paired = TRUE)",
    sepal_length = curve(labels, flowers$Sepal.Length), petal_width = curve(labels, flowers$Petal.Width),
    sepal_width = curve(labels, flowers$Sepal.Width),
    pair = pair(labels, flowers$Sepal.Length, flowers$Petal.Width),
    pair_sepal = pair(labels, flowers$Sepal.Length, flowers$Sepal.Width)),
  points = points(),
  endometrial = list(
    call = "roc(HG, PI), roc(HG, -EH); roc.test(PI, -EH, paired = TRUE)",
    pi = curve(womb$HG, womb$PI), eh = curve(womb$HG, -womb$EH), pair = pair(womb$HG, womb$PI, -womb$EH)),
  made_with = list(R = R.version.string, pROC = as.character(packageVersion("pROC")))
)
writeLines(jsonlite::toJSON(numbers, digits = NA, auto_unbox = TRUE, pretty = TRUE), "tests/reference/roc.json")
