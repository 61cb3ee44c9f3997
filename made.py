SPEED = as_fast_as_the_carrier_allows(9)
