"""Rows that change the weights one after another."""
