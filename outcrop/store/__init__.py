"""What algorithms keep outside RAM: a private directory, block files in it, and queues made of them."""
