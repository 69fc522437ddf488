/** Times at which the strategies of discovery are measured. Filled from the environment by src/Config.ts. */
import { Context } from "effect"

/**
 * Times at which the strategies of discovery are measured.
 *
 * **When to use**
 *
 * Use where they are measured, and where it matters how old a measurement is.
 */
export class DiscoverySettings extends Context.Service<
  DiscoverySettings,
  {
    /** Milliseconds between two measurements. */
    readonly intervalMs: number
  }
>()("ballast/domain/discovery/DiscoverySettings") {}
