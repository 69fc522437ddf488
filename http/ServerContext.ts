/**
 * What the server itself needs around it, and not only the routes: it names spans and reports faults before and after
 * them.
 */
import { Layer } from "effect"
import { FaultReporter } from "#http/middleware/faultReporter.ts"
import { SpanNames } from "#http/middleware/spanNames.ts"
import { MaxBody } from "#http/routerSettings.ts"

export const ServerContext = Layer.mergeAll(FaultReporter, SpanNames, MaxBody)
