"""How maps and figures look: their colours."""

# Colours that people with any colour vision tell apart (Okabe and Ito), and two more.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#332288", "#E69F00", "#56B4E9", "#882255")
