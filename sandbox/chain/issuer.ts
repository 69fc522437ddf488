/**
 * The issuer of the world's tokens without a price feed: the key that signs its quotes, in every world, since the
 * address of its contract follows from it; and as whom it knows the guard's runner.
 */
import { type Hex, keccak256, toHex } from "viem"
import { privateKeyToAccount } from "viem/accounts"

export const issuerSigner = privateKeyToAccount(keccak256(toHex("the issuer of Ballast's sandbox")))
export const issuerUserId: Hex = keccak256(toHex("the customer of Ballast's sandbox"))
