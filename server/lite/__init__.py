"""`/lite`: the page without JavaScript: links and plain forms, small enough for slow networks."""
