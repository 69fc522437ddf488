/**
 * Addresses at which the world installs contracts: those that ZeroDev's client library, ERC-4337 and viem expect, and
 * those that follow from the code of our own in `contracts`.
 */
import { type Address, getAddress, keccak256, slice, toHex } from "viem"
import type { GuardKeys } from "#layers/evm/deployment/ChainFile.ts"

/** EntryPoint 0.7, Kernel 0.3.1 with its factories and modules, the modules of ours, Multicall3. */
export const canonical = {
  entryPoint: "0x0000000071727De22E5E9d8BAf0edAc6f37da032",
  kernel: "0xBAC849bB641841b44E965fB01A4Bf5F074f84b4D",
  kernelFactory: "0xaac5D4240AF87249B3f71BC8E4A2cae074A3E419",
  metaFactory: "0xd703aaE79538628d27099B8c4f621bE4CCd142d5",
  ownerValidator: "0x5C97aA67Ba578E3c54ec5942A7563Ea9130E4f5F",
  agentSigner: "0x6A6F069E2a08c2468e7724Ab3250CdBFBA14D4FF",
  callPolicy: "0x9a52283276A0ec8740DF50bF01B28A80D880eaf2",
  erc1271OwnerValidator: "0x7c7D3Cf094Fdea0356ED6a447E4c848c43f11575",
  withdrawalExecutor: "0x2542A8f47FD2Bb82584f224f63279ED187D62619",
  multicall3: "0xcA11bde05977b3631167028862bE2a173976CA11"
} as const satisfies Record<string, Address>

/** The account that owns the world's treasury. Nobody has its key: the chain is asked to impersonate it. */
export const operator: Address = getAddress(slice(keccak256(toHex("ballast sandbox operator")), 12))

/** The world's operator has every key of its guards but the attestor's. */
export const guardKeys = (attestor: Address | null): GuardKeys => ({
  deployer: operator,
  administrator: operator,
  guardian: operator,
  attestor
})
