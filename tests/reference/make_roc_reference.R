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

numbers <- list(
  iris = list(
    call = "roc(virginica, column, direction = '<'); roc.test(sepal length, petal width, paired = TRUE)",
    sepal_length = curve(labels, flowers$Sepal.Length), petal_width = curve(labels, flowers$Petal.Width),
    sepal_width = curve(labels, flowers$Sepal.Width),
    pair = pair(labels, flowers$Sepal.Length, flowers$Petal.Width),
    pair_sepal = pair(labels, flowers$Sepal.Length, flowers$Sepal.Width)),
  endometrial = list(
    call = "roc(HG, PI), roc(HG, -EH); roc.test(PI, -EH, paired = TRUE)",
    pi = curve(womb$HG, womb$PI), eh = curve(womb$HG, -womb$EH), pair = pair(womb$HG, womb$PI, -womb$EH)),
  made_with = list(R = R.version.string, pROC = as.character(packageVersion("pROC")))
)
writeLines(jsonlite::toJSON(numbers, digits = NA, auto_unbox = TRUE, pretty = TRUE), "tests/reference/roc.json")
