"""The explorer: scenarios, captures and results in a browser, served by this machine to itself.

    guard       who may ask: Host, Origin, headers, sizes
    app         what may be asked
    asked       a request, checked
    pool        the processes that answer, each ended when it takes too long
    worker      such a process
    runs        runs as pictures want them
    knobs       what the sliders begin with
    captures    captures as pictures want them
    downloads   what can be kept
    browse      results of sweeps and reports, from one folder
    packing     columns of numbers as bytes
    assets      the page

Nothing that a client sends is ever the name of a file.
"""
