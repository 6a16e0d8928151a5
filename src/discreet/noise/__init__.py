"""Exact noise from cryptographic bits: what every mechanism draws from."""

from discreet.noise.bernoulli import bernoulli, bernoulli_exp
from discreet.noise.choice import choice
from discreet.noise.gaussian import gaussian
from discreet.noise.laplace import laplace
from discreet.noise.planar import planar as planar_laplace
from discreet.noise.uniform import uniform

__all__ = ["bernoulli", "bernoulli_exp", "choice", "gaussian", "laplace", "planar_laplace", "uniform"]
