/**
 * The issuer of the world's tokens without a price feed: the key that signs its quotes, in every world, since the
 * address of its contract follows from it; as whom it knows the guard's runner; and how it calls chains.
 */
import { type Hex, keccak256, toHex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import type { CatalogChain } from "#sandbox/assets/catalog.ts"

export const issuerSigner = privateKeyToAccount(keccak256(toHex("the issuer of Ballast's sandbox")))
export const issuerUserId: Hex = keccak256(toHex("the customer of Ballast's sandbox"))

/** How the issuer calls a chain. */
export const issuerChainOf = ({ chainId, platformId }: Pick<CatalogChain, "chainId" | "platformId">): string =>
  `${platformId}-${chainId}`
