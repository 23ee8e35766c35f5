from discrim._kernels.reference import class_moments as class_moments
from discrim._kernels.reference import code_integers as code_integers
from discrim._kernels.reference import score as score
