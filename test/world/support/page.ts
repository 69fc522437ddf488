/** What a page of an integrator bundles where people sign in with a wallet and swap. */
export { connectProcedures } from "#client/rpc.ts"
export { privateKeyToAccount } from "viem/accounts"
export { createSiweMessage } from "viem/siwe"
