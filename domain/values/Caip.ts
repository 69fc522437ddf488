/**
 * Chain-agnostic identifiers: CAIP-2 chains, CAIP-10 accounts, CAIP-19 assets.
 *
 * Decoding accepts an EVM address in lower case, upper case or EIP-55 form, refuses a wrong checksum, and yields one
 * canonical spelling (EIP-55), so identifiers compare as strings everywhere else.
 * Sources: interface "Identifier formats (CAIP)", CAIP-2/10/19, EIP-55.
 */
import { Schema } from "effect"
import * as Base58 from "#domain/values/Base58.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import { fromText } from "#domain/values/fromText.ts"

/** CAIP-2 reference of Solana mainnet: the first 32 characters of its genesis hash. */
export const solanaReference = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"

/** The number of a chain as used in `chainIds`: of an EVM chain its EIP-155 id. */
export const ChainId = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))
  .annotate({ examples: [8453] })
  .pipe(Schema.brand("ChainId"))
export type ChainId = typeof ChainId.Type

/** The number that stands for Solana in `chainIds`. */
export const solanaChainId = ChainId.make(1399811149)

/** The forms of identifiers; a mixed-case address must have its EIP-55 checksum besides. */
export const patterns = {
  evmWallet: /^eip155:0:0x[0-9a-fA-F]{40}$/u,
  evmAccount: /^eip155:[1-9][0-9]{0,15}:0x[0-9a-fA-F]{40}$/u,
  erc20Asset: /^eip155:[1-9][0-9]{0,15}\/erc20:0x[0-9a-fA-F]{40}$/u,
  nativeAsset: /^eip155:[1-9][0-9]{0,15}\/slip44:(?:0|[1-9][0-9]{0,9})$/u,
  splAsset: new RegExp(`^solana:${solanaReference}/spl:[1-9A-HJ-NP-Za-km-z]{32,44}$`, "u"),
  solanaAccount: new RegExp(`^solana:${solanaReference}:[1-9A-HJ-NP-Za-km-z]{32,44}$`, "u"),
  address: /^0x[0-9a-fA-F]{40}$/u
} as const

/** The forms of identifiers of all families. */
export const anyPattern = {
  wallet: new RegExp(`${patterns.evmWallet.source}|${patterns.solanaAccount.source}`, "u"),
  account: new RegExp(`${patterns.evmAccount.source}|${patterns.solanaAccount.source}`, "u"),
  asset: new RegExp(`${patterns.erc20Asset.source}|${patterns.splAsset.source}`, "u"),
  held: new RegExp(`${patterns.erc20Asset.source}|${patterns.nativeAsset.source}|${patterns.splAsset.source}`, "u")
} as const

const evmIdentifier = (pattern: RegExp) => (input: string) => {
  const match = pattern.exec(input)
  if (match === null || !Eip55.isValid(match[2]!)) return undefined
  return `${match[1]}${Eip55.checksum(match[2]!)}`
}

const evmWalletForm = {
  expected: "a CAIP-10 wallet of the form eip155:0:<address>, with a valid EIP-55 checksum when mixed-case",
  example: "eip155:0:0x52908400098527886E0F7030069857D2E4169EE7"
}

/** CAIP-10 of an end user's EVM wallet on no particular chain: `eip155:0:<address>`. */
export const EvmWalletId = fromText(Schema.String.pipe(Schema.brand("EvmWalletId")), {
  ...evmWalletForm,
  pattern: patterns.evmWallet,
  parse: evmIdentifier(/^(eip155:0:)(0x[0-9a-fA-F]{40})$/),
  format: (id) => id
})
export type EvmWalletId = typeof EvmWalletId.Type

const evmAccountForm = {
  expected:
    "a chain-bound CAIP-10 account of the form eip155:<chainId>:<address>, the chain first and then the address",
  example: "eip155:8453:0x52908400098527886E0F7030069857D2E4169EE7"
}

/** CAIP-10 of a smart account on one EVM chain: `eip155:<chainId>:<address>`. */
export const EvmAccountId = fromText(Schema.String.pipe(Schema.brand("EvmAccountId")), {
  ...evmAccountForm,
  pattern: patterns.evmAccount,
  parse: evmIdentifier(/^(eip155:[1-9][0-9]{0,15}:)(0x[0-9a-fA-F]{40})$/),
  format: (id) => id
})
export type EvmAccountId = typeof EvmAccountId.Type

const solanaPrefix = `solana:${solanaReference}`

const solanaIdentifier = (text: string) =>
  text.startsWith(`${solanaPrefix}:`) && Base58.isBytes32(text.slice(solanaPrefix.length + 1)) ? text : undefined

/** CAIP-10 of an end user's Solana wallet: `solana:<reference>:<base58>`. */
export const SolanaWalletId = fromText(Schema.String.pipe(Schema.brand("SolanaWalletId")), {
  expected: `a CAIP-10 wallet of the form ${solanaPrefix}:<base58>`,
  pattern: patterns.solanaAccount,
  example: `${solanaPrefix}:7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU`,
  parse: solanaIdentifier,
  format: (id) => id
})
export type SolanaWalletId = typeof SolanaWalletId.Type

/** CAIP-10 of a smart account on Solana, written as a wallet is: `solana:<reference>:<base58>`. */
export const SolanaAccountId = fromText(Schema.String.pipe(Schema.brand("SolanaAccountId")), {
  expected: `a CAIP-10 account of the form ${solanaPrefix}:<base58>`,
  pattern: patterns.solanaAccount,
  example: `${solanaPrefix}:7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU`,
  parse: solanaIdentifier,
  format: (id) => id
})
export type SolanaAccountId = typeof SolanaAccountId.Type

/** Annotation of a union: its text in the OpenAPI document and in refusals. The example is of an EVM chain. */
const oneOf = (expected: string, example: string, onSolana: string) => ({
  description: `${expected}, or ${onSolana}`,
  message: `Expected ${expected}, such as ${example}, or ${onSolana}`
})

/** CAIP-10 of an end user's wallet of any family. */
export const WalletId = Schema.Union([EvmWalletId, SolanaWalletId]).annotate(
  oneOf(evmWalletForm.expected, evmWalletForm.example, `${solanaPrefix}:<base58>`)
)
export type WalletId = typeof WalletId.Type

/** CAIP-10 of a smart account, or of a recipient, on a chain of any family. */
export const AccountId = Schema.Union([EvmAccountId, SolanaAccountId]).annotate(
  oneOf(evmAccountForm.expected, evmAccountForm.example, `${solanaPrefix}:<base58>`)
)
export type AccountId = typeof AccountId.Type

const erc20AssetForm = {
  expected: "a CAIP-19 asset of the form eip155:<chainId>/erc20:<address>, the chain first and then the token",
  example: "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
}

/** CAIP-19 of an ERC-20 token: `eip155:<chainId>/erc20:<address>`. */
export const Erc20AssetId = fromText(Schema.String.pipe(Schema.brand("Erc20AssetId")), {
  ...erc20AssetForm,
  pattern: patterns.erc20Asset,
  parse: evmIdentifier(/^(eip155:[1-9][0-9]{0,15}\/erc20:)(0x[0-9a-fA-F]{40})$/),
  format: (id) => id
})
export type Erc20AssetId = typeof Erc20AssetId.Type

const splPrefix = `${solanaPrefix}/spl:`

/** CAIP-19 of a token of Solana mainnet: `solana:<reference>/spl:<mint>`. */
export const SplAssetId = fromText(Schema.String.pipe(Schema.brand("SplAssetId")), {
  expected: `a CAIP-19 asset of the form ${splPrefix}<mint>, with a mint of 32 bytes in base58`,
  pattern: patterns.splAsset,
  example: `${splPrefix}EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v`,
  parse: (text) => (text.startsWith(splPrefix) && Base58.isBytes32(text.slice(splPrefix.length)) ? text : undefined),
  format: (id) => id
})
export type SplAssetId = typeof SplAssetId.Type

const tradable = oneOf(erc20AssetForm.expected, erc20AssetForm.example, `${splPrefix}<mint>`)

/** CAIP-19 of a token that a portfolio may trade, on a chain of any family: ERC-20 or SPL. */
export const AssetId = Schema.Union([Erc20AssetId, SplAssetId]).annotate({
  ...tradable,
  message: `${tradable.message}; no native coin (slip44) is traded`
})
export type AssetId = typeof AssetId.Type

const nativeAssetForm = {
  expected: "a CAIP-19 native coin of the form eip155:<chainId>/slip44:<coin>",
  example: "eip155:8453/slip44:60"
}

/** CAIP-19 of the coin in which an EVM chain takes its fees: `eip155:<chainId>/slip44:<coin>`. Source: SLIP-44. */
export const NativeAssetId = fromText(Schema.String.pipe(Schema.brand("NativeAssetId")), {
  ...nativeAssetForm,
  pattern: patterns.nativeAsset,
  parse: (text) => (patterns.nativeAsset.test(text) ? text : undefined),
  format: (id) => id
})
export type NativeAssetId = typeof NativeAssetId.Type

/** CAIP-19 of what an account may hold: a token, or its chain's native coin, which is never traded. */
export const HeldAssetId = Schema.Union([Erc20AssetId, NativeAssetId, SplAssetId]).annotate(
  oneOf(`${erc20AssetForm.expected}, ${nativeAssetForm.expected}`, erc20AssetForm.example, `${splPrefix}<mint>`)
)
export type HeldAssetId = typeof HeldAssetId.Type

/** True for the native coin of a chain, false for a token. */
export const isNative = (id: HeldAssetId): id is NativeAssetId => id.includes("/slip44:")

/** Builds the CAIP-19 id of the native coin of an EVM chain from the coin's number in SLIP-44. */
export const slip44 = (chainId: ChainId, coin: number): NativeAssetId =>
  `eip155:${chainId}/slip44:${coin}` as NativeAssetId

/** True for a token of an EVM chain, false for one of Solana. */
export const isErc20 = (id: AssetId): id is Erc20AssetId => id.startsWith("eip155:")

/** A 20-byte EVM address in EIP-55 form. */
export const EvmAddress = fromText(Schema.String.pipe(Schema.brand("EvmAddress")), {
  expected: "a 20-byte hex address with a valid EIP-55 checksum when mixed-case",
  pattern: patterns.address,
  example: "0x52908400098527886E0F7030069857D2E4169EE7",
  parse: (input) => (Eip55.isValid(input) ? Eip55.checksum(input) : undefined),
  format: (id) => id
})
export type EvmAddress = typeof EvmAddress.Type

/** A Solana address: 32 bytes in base58, which have one spelling. */
export const SolanaAddress = fromText(Schema.String.pipe(Schema.brand("SolanaAddress")), {
  expected: "a Solana address of 32 bytes in base58",
  pattern: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/u,
  example: "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU",
  parse: (text) => (Base58.isBytes32(text) ? text : undefined),
  format: (address) => address
})
export type SolanaAddress = typeof SolanaAddress.Type

/** An address on a chain, in the spelling of the chain's family: an account, a contract, a token or a mint. */
export const Address = Schema.Union([EvmAddress, SolanaAddress]).annotate({
  message:
    "Expected an EVM address of 20 hex bytes, with a valid EIP-55 checksum when mixed-case, such as 0x52908400098527886E0F7030069857D2E4169EE7, or a Solana address in base58"
})
export type Address = typeof Address.Type

/** The chain of a number in digits, whose form and range are checked already. */
export const chainIdIn = (digits: string): ChainId => Number.parseInt(digits, 10) as ChainId

const afterLast = (text: string, separator: string) => text.slice(text.lastIndexOf(separator) + 1)

/** The address inside an identifier of this module: of an asset the token's contract or mint. */
export const addressOf: {
  (id: EvmWalletId | EvmAccountId | Erc20AssetId): EvmAddress
  (id: SolanaWalletId | SolanaAccountId | SplAssetId): SolanaAddress
  (id: WalletId | AccountId | AssetId): Address
} = (id: string) => afterLast(id, ":") as EvmAddress & SolanaAddress

/** The chain, as `chainIds` number it, of a chain-bound account or an asset. */
export const chainIdOf = (id: AccountId | HeldAssetId): ChainId =>
  id.startsWith(solanaPrefix) ? solanaChainId : chainIdIn(id.slice("eip155:".length))

/**
 * CAIP-2 namespaces of the families of chains: `eip155` for EVM chains, `solana`. What is done on a chain is done by
 * the adapter of its namespace.
 */
export const Namespace = Schema.Literals(["eip155", "solana"])
export type Namespace = typeof Namespace.Type

/** The family of an identifier's chain; of a wallet that is on no particular chain, that of its key. */
export const namespaceOf = (id: WalletId | AccountId | HeldAssetId): Namespace =>
  id.startsWith("solana:") ? "solana" : "eip155"

/** The family of a chain. */
export const namespaceOfChain = (chainId: ChainId): Namespace => (chainId === solanaChainId ? "solana" : "eip155")

/** True for the text of a wallet that is on no particular chain. */
export const isOnNoChain = (text: string): boolean => text.startsWith("eip155:0:")

/** Builds the CAIP-19 id of an ERC-20 token from a canonical address. */
export const erc20 = (chainId: ChainId, address: EvmAddress): Erc20AssetId =>
  `eip155:${chainId}/erc20:${address}` as Erc20AssetId

/** Builds the CAIP-19 id of a token of Solana mainnet from its mint. */
export const spl = (mint: string): SplAssetId => `${splPrefix}${mint}` as SplAssetId

/** Builds the CAIP-19 id of the token at an address of a chain; the address is of the chain's family. */
export const assetAt = (chainId: ChainId, address: Address): AssetId =>
  namespaceOfChain(chainId) === "solana" ? spl(address) : erc20(chainId, address as EvmAddress)

/** Builds the CAIP-10 id of an account on one chain from a canonical address. */
export const evmAccount = (chainId: ChainId, address: EvmAddress): EvmAccountId =>
  `eip155:${chainId}:${address}` as EvmAccountId

/**
 * The account that has the same address on another chain; undefined where the two chains are not of one family whose
 * accounts are at the same address everywhere.
 */
export const sameAddressOn = (accountId: AccountId, chainId: ChainId): AccountId | undefined =>
  namespaceOf(accountId) === "eip155" && namespaceOfChain(chainId) === "eip155"
    ? evmAccount(chainId, addressOf(accountId) as EvmAddress)
    : undefined

/** Builds the CAIP-10 id of an account on Solana mainnet from its address. */
export const solanaAccount = (address: string): SolanaAccountId => `${solanaPrefix}:${address}` as SolanaAccountId

/** Builds the CAIP-10 id of a wallet on no particular chain from a canonical address. */
export const evmWallet = (address: EvmAddress): EvmWalletId => `eip155:0:${address}` as EvmWalletId
