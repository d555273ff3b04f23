"""The explorer: scenarios, captures and results in a browser, served by this machine to itself.

    guard       access control: Host, Origin, headers, sizes
    app         the routes
    requests    the validation of requests
    pool        the worker processes, with their time limits
    worker      a worker process
    runs        runs as data for the figures
    parameters  the initial values of the sliders
    captures    captures as data for the figures
    downloads   files to save
    browse      results of sweeps and of `reproduce`
    packing     columns of numbers in binary form
    assets      the files of the page

Nothing that a client sends is ever used as a file name.
"""
