/** Assets as procedures name them: `<address>:<chainId>`, also of Solana. Source: interface "Identifier formats". */
import { Schema } from "effect"
import * as Base58 from "#domain/values/Base58.ts"
import { type AssetId, type ChainId, chainIdOf, solanaChainId, solanaReference } from "#domain/values/Caip.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import { fromText } from "#domain/values/fromText.ts"

const evm = /^(0x[0-9a-fA-F]{40}):([1-9][0-9]{0,15})$/u
const evmCaip = /^eip155:([1-9][0-9]{0,15})\/erc20:(0x[0-9a-fA-F]{40})$/u
const mint = new RegExp(`^([1-9A-HJ-NP-Za-km-z]{32,44}):${solanaChainId}$`, "u")
const mintCaip = new RegExp(`^solana:${solanaReference}/(?:spl|token):([1-9A-HJ-NP-Za-km-z]{32,44})$`, "u")

const Key = Schema.String.pipe(Schema.brand("AssetKey"))
export type AssetKey = typeof Key.Type

/** The one spelling of an id, EIP-55 on EVM chains; undefined for what is none. Any case of an EVM address will do. */
export const normalizeKey = (text: string): AssetKey | undefined => {
  const [, address, chainId] = evm.exec(text) ?? []
  if (address !== undefined) return `${Eip55.checksum(address)}:${chainId}` as AssetKey
  const [, chain, contract] = evmCaip.exec(text) ?? []
  if (contract !== undefined) return `${Eip55.checksum(contract)}:${chain}` as AssetKey
  const found = (mint.exec(text) ?? mintCaip.exec(text))?.[1]
  return found !== undefined && Base58.isBytes32(found) ? (`${found}:${solanaChainId}` as AssetKey) : undefined
}

export const AssetKey = fromText(Key, {
  expected:
    "an asset of the form <address>:<chainId>, or CAIP-19, where the chain comes first: eip155:<chainId>/erc20:<address>",
  pattern: /^(\S+:[1-9][0-9]{0,15}|\S+\/\S+)$/u,
  example: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913:8453",
  parse: normalizeKey,
  format: (key) => key
})

const evmAddress = /^0x[0-9a-f]{40}$/iu
const solanaMint = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/u

/** Whether a text names one contract rather than anything to be searched for. */
export const isAddress = (text: string): boolean => evmAddress.test(text) || solanaMint.test(text)

/**
 * Whether a text may stand for an address that is the same but for the case of letters: the case means something in a
 * mint, and nothing in an EVM address.
 */
export const isSpelledAs = (address: string, text: string): boolean => evmAddress.test(text) || address === text

const afterLast = (text: string, separator: string) => text.slice(text.lastIndexOf(separator) + 1)

/** Chain and address inside a CAIP-19 id, and the key made of them. */
export interface KeyParts {
  readonly address: string
  readonly chainId: ChainId
  readonly assetId: AssetKey
}

export const keyPartsOf = (caipAssetId: AssetId): KeyParts => {
  const address = afterLast(caipAssetId, ":")
  const chainId = chainIdOf(caipAssetId)
  return { address, chainId, assetId: `${address}:${chainId}` as AssetKey }
}
