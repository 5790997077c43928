"""Intervals of estimated error rates: how often do they contain the truth?"""
