"""The colours of lines and of cells on maps and in figures."""

# Different with any colour vision, and dark enough on a pale street map: Okabe and
# Ito's colours without yellow and black, with Tol's indigo and wine.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#332288", "#E69F00", "#56B4E9", "#882255")

RAMP = ("#fed976", "#feb24c", "#fd8d3c", "#fc4e2a", "#e31a1c", "#bd0026", "#800026")
"""From few to many: Brewer's YlOrRd."""
