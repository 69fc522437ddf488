import type { TypedDataDefinition } from "viem"

/** EIP-712 data of the domain, whose addresses are of its own types, as viem takes it. */
export const viemTypedData = (typedData: object) => typedData as TypedDataDefinition
