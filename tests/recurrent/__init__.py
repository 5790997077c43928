"""Tests of recurrent mutations."""
