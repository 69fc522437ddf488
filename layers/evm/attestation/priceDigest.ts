/** What the attestor signs, as EIP-712 typed data of a guard on its chain. Source: contracts/ReferencePrices.sol. */
import { type Hex, hashTypedData, recoverAddress } from "viem"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import type { SignedPrice } from "#domain/attestation/PriceAttestor.ts"
import { fromViem, toViem } from "#layers/evm/address.ts"

/** What a price is signed for: the guard that accepts it, and that guard's chain. */
export interface PriceDomain {
  readonly chainId: ChainId
  readonly guard: EvmAddress
}

const types = {
  Price: [
    { name: "token", type: "address" },
    { name: "price", type: "uint128" },
    { name: "time", type: "uint40" }
  ]
} as const

export const priceDigest = (
  { chainId, guard }: PriceDomain,
  { price, time, token }: Omit<SignedPrice, "signature">
): Hex =>
  hashTypedData({
    domain: { name: "Ballast price attestor", version: "1", chainId, verifyingContract: toViem(guard) },
    types,
    primaryType: "Price",
    message: { token: toViem(token), price, time }
  })

/** The signer of a price for the guard; undefined for a malformed signature. */
export const attestorOf = (
  domain: PriceDomain,
  { signature, ...price }: SignedPrice
): Promise<EvmAddress | undefined> =>
  recoverAddress({ hash: priceDigest(domain, price), signature: signature as Hex }).then(fromViem, () => undefined)
