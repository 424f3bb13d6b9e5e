"""Language models in MLX form, run by mlx-lm in a process of their own: an extra, for Macs."""
