"""Kernels that programs share."""
