import { createHash } from "node:crypto"
import { Redacted } from "effect"

/** A secret of the world for a purpose: the same in each of its processes, and nothing that has to be kept. */
export const derivedSecret =
  (internalToken: Redacted.Redacted) =>
  (purpose: string): string =>
    createHash("sha256")
      .update(`${purpose}:${Redacted.value(internalToken)}`)
      .digest("hex")
