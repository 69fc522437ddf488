/** A key opened for the moment of a signature; nothing keeps what this returns. */
import { Redacted } from "effect"
import type { Hex } from "viem"
import { privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts"

export const localAccount = (key: Redacted.Redacted): PrivateKeyAccount =>
  privateKeyToAccount(Redacted.value(key) as Hex)
