# One peer: reads the data once, then fits at every line "fit" and answers with the seconds of that fit.
# Rscript glmnet.R FOLDER THRESHOLD, with the files that glmnet.py writes.
suppressPackageStartupMessages(library(glmnet))

arguments <- commandArgs(trailingOnly = TRUE)
threshold <- as.numeric(arguments[2])
from <- function(name, what, size) {
  file <- file.path(arguments[1], name)
  readBin(file, what, file.size(file) / size)
}
shape <- from("shape", "integer", 4)
values <- from("values", "double", 8)
y <- from("y", "integer", 4)
lambda <- from("lambda", "double", 8)
if (file.exists(file.path(arguments[1], "indices"))) {
  X <- new("dgCMatrix", Dim = shape, i = from("indices", "integer", 4), p = from("starts", "integer", 4), x = values)
} else {
  X <- matrix(values, shape[1], shape[2])
}
rm(values)
options <- list(x = X, y = y, family = "binomial", lambda = lambda, standardize = FALSE, thresh = threshold,
                maxit = 1e7)
train <- glmnet
if (file.exists(file.path(arguments[1], "folds"))) {
  train <- cv.glmnet
  options$foldid <- from("folds", "integer", 4) + 1L
}

say <- function(text) {
  cat(text, "\n", sep = "")
  flush(stdout())
}
input <- file("stdin", "r")
say("ready")
while (length(line <- readLines(input, 1)) > 0) {
  if (line == "fit") {
    stamp <- Sys.time()
    fit <- suppressWarnings(do.call(train, options))
    say(format(as.numeric(difftime(Sys.time(), stamp, units = "secs")), digits = 9))
  } else {
    path <- if (inherits(fit, "cv.glmnet")) fit$glmnet.fit else fit
    writeBin(as.vector(as.matrix(coef(path))), file.path(arguments[1], "coefficients"))
    say("written")
  }
}
