/**
 * The whole worker as layers: its HTTP routes, and the gate of its sockets. Needs the backplane, the providers' feeds,
 * the settings and keys, Mac and SecureRandom; `layers/stream` serves both on one port.
 */
import { Layer } from "effect"
import { Access } from "#stream/Access.ts"
import { Demand } from "#stream/Demand.ts"
import { Feeds } from "#stream/Feeds.ts"
import { Gate } from "#stream/Gate.ts"
import { Hub } from "#stream/Hub.ts"
import { Intake } from "#stream/Intake.ts"
import { internalRoutes } from "#stream/internalRoutes.ts"
import { Registry } from "#stream/Registry.ts"
import { Status } from "#stream/Status.ts"
import { ticketRoutes } from "#stream/ticketRoutes.ts"
import { Tickets } from "#stream/Tickets.ts"
import { Workers } from "#stream/Workers.ts"

export const Worker = Gate.pipe(
  Layer.provideMerge(Layer.mergeAll(Intake.layer, Status.layer, Access.layer)),
  Layer.provideMerge(Layer.mergeAll(Feeds.layer, Demand.layer)),
  Layer.provideMerge(Layer.mergeAll(Hub.layer, Registry.layer, Workers.layer, Tickets.layer))
)

export const WorkerRoutes = Layer.mergeAll(ticketRoutes, internalRoutes)
