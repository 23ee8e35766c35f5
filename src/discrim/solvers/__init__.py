"""Small algebra without data: from statistics to rules."""
