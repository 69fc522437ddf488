/** A key that this process holds, opened for the moment of a signature; nothing keeps what was opened. */
import { Effect, Redacted } from "effect"
import type { Hex } from "viem"
import { privateKeyToAddress, sign } from "viem/accounts"
import type { EvmAddress } from "#domain/Caip.ts"
import type { Signer } from "#domain/relay/Signer.ts"
import { fromViem } from "#layers/evm/address.ts"

/** The address of a key of 32 bytes in hex. */
export const addressOfKey = (key: Redacted.Redacted): EvmAddress =>
  fromViem(privateKeyToAddress(Redacted.value(key) as Hex))

export const localSigner = (key: Redacted.Redacted): Signer => ({
  address: addressOfKey(key),
  sign: (digest) =>
    Effect.promise(() => sign({ hash: digest as Hex, privateKey: Redacted.value(key) as Hex, to: "hex" }))
})
