"""`/lite`: the page without JavaScript, of links and plain forms, small enough for a bad line."""
