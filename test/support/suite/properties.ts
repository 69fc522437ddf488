/**
 * Properties draw the same examples in every run, so that a run that was green is green again. `PROPERTY_SEED` draws
 * others; what fails prints its seed and the smallest example.
 */
import * as fc from "fast-check"

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env["PROPERTY_SEED"] ?? 1) })
