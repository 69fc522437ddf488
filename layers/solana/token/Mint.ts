/** A mint as both token programs keep it, with the extensions that decide what may be done with its tokens. */
import {
  AccountState,
  ExtensionType,
  getDefaultAccountState,
  getExtensionData,
  getExtensionTypes,
  getInterestBearingMintConfigState,
  getNonTransferable,
  getPausableConfig,
  getPermanentDelegate,
  getScaledUiAmountConfig,
  getTransferFeeConfig,
  getTransferHook,
  type Mint as UnpackedMint,
  unpackMint
} from "@solana/spl-token"
import { PublicKey } from "@solana/web3.js"
import { Result } from "effect"
import * as Decimal from "#domain/values/Decimal.ts"
import type { Account } from "#layers/solana/rpc/Requests.ts"
import { ByteReader, MalformedBytes } from "#layers/solana/swig/ByteReader.ts"
import { type Multiplier, unscaled } from "#layers/solana/token/Multiplier.ts"
import { isTokenProgram } from "#layers/solana/token/programs.ts"

export interface Mint {
  readonly mint: PublicKey
  /** The token program that keeps it. */
  readonly program: PublicKey
  readonly decimals: number
  /** Symbol that its issuer wrote into the mint; null where the mint has none. */
  readonly symbol: string | null
  readonly multiplier: Multiplier
  /** No transfer succeeds until the issuer resumes. */
  readonly isPaused: boolean
  /** An authority may move or burn any holder's tokens without the holder. */
  readonly hasPermanentDelegate: boolean
  /** New accounts are frozen until the issuer thaws them. */
  readonly startsFrozen: boolean
  /** What is received is less than what is sent. */
  readonly hasTransferFee: boolean
  /** A program of the issuer that is called with each transfer and may refuse it; null where there is none. */
  readonly hookProgram: PublicKey | null
  /** What people are shown grows with time; raw units do not. */
  readonly bearsInterest: boolean
  /** Numbers of extensions whose rules are not known here. */
  readonly unknownExtensions: ReadonlyArray<number>
  readonly isNonTransferable: boolean
}

const longestText = 256
/** Fees of confidential transfers, which the package does not name. Source: `spl-token-2022`, `ExtensionType`. */
const confidentialTransferFee = 16

/**
 * The first texts of token metadata: update authority, mint, name, symbol. Source: `spl-token-metadata`, by which
 * programs of tokens keep them.
 */
const symbolOf = ({ tlvData }: UnpackedMint, mint: PublicKey): string | null => {
  const data = getExtensionData(ExtensionType.TokenMetadata, tlvData)
  if (data === null) return null
  const reader = new ByteReader(data, "token metadata")
  reader.bytes(32)
  if (!new PublicKey(reader.bytes(32)).equals(mint)) return null
  readText(reader)
  return readText(reader)
}

/** A text with its length before it. */
export const readText = (reader: ByteReader): string => {
  const length = reader.u32()
  if (length > longestText) throw new MalformedBytes(`a text of ${length} bytes, at most ${longestText} are read`)
  // Older metadata is padded to a fixed length with zeros.
  return new TextDecoder().decode(reader.bytes(length)).replace(/\0+$/u, "").trim()
}

const wad = (value: number): bigint => {
  const found = Decimal.fromNumber(value)
  if (found === undefined || found < 0n) throw new MalformedBytes(`the multiplier ${value} is no positive number`)
  return found
}

const multiplierOf = (unpacked: UnpackedMint): Multiplier => {
  const config = getScaledUiAmountConfig(unpacked)
  if (config === null) return unscaled
  const { multiplier, newMultiplier, newMultiplierEffectiveTimestamp } = config
  return { current: wad(multiplier), next: wad(newMultiplier), nextFrom: newMultiplierEffectiveTimestamp }
}

/** Whether either rate of the mint, that of now or the next one, takes something. */
const takesFee = (unpacked: UnpackedMint): boolean => {
  const config = getTransferFeeConfig(unpacked)
  if (config === null) return false
  return [config.olderTransferFee, config.newerTransferFee].some((fee) => fee.transferFeeBasisPoints > 0)
}

/** Extensions of mints whose rules are read here, or hold back no transfer. */
const knownExtensions: ReadonlySet<number> = new Set([
  ExtensionType.TransferFeeConfig,
  ExtensionType.MintCloseAuthority,
  ExtensionType.ConfidentialTransferMint,
  ExtensionType.DefaultAccountState,
  ExtensionType.NonTransferable,
  ExtensionType.InterestBearingConfig,
  ExtensionType.PermanentDelegate,
  ExtensionType.TransferHook,
  confidentialTransferFee,
  ExtensionType.MetadataPointer,
  ExtensionType.TokenMetadata,
  ExtensionType.GroupPointer,
  ExtensionType.TokenGroup,
  ExtensionType.GroupMemberPointer,
  ExtensionType.TokenGroupMember,
  ExtensionType.ScaledUiAmountConfig,
  ExtensionType.PausableConfig
])

const isSet = (key: PublicKey | undefined): boolean => key !== undefined && !key.equals(PublicKey.default)

/** Reads the account of a mint. An account that is no mint of either token program is `MalformedBytes`. */
export const decodeMint = (mint: PublicKey, { data, lamports, owner }: Account): Result.Result<Mint, MalformedBytes> =>
  Result.try({
    try: () => {
      if (!isTokenProgram(owner)) throw new MalformedBytes(`${mint.toBase58()} is kept by no token program`)
      const info = { data: Buffer.from(data), executable: false, lamports: Number(lamports), owner }
      const unpacked = unpackMint(mint, info, owner)
      if (!unpacked.isInitialized) throw new MalformedBytes(`${mint.toBase58()} is not initialized`)
      const hook = getTransferHook(unpacked)?.programId
      return {
        mint,
        program: owner,
        decimals: unpacked.decimals,
        symbol: symbolOf(unpacked, mint),
        multiplier: multiplierOf(unpacked),
        isPaused: getPausableConfig(unpacked)?.paused === true,
        hasPermanentDelegate: isSet(getPermanentDelegate(unpacked)?.delegate),
        startsFrozen: getDefaultAccountState(unpacked)?.state === AccountState.Frozen,
        hasTransferFee: takesFee(unpacked),
        hookProgram: hook !== undefined && isSet(hook) ? hook : null,
        bearsInterest: getInterestBearingMintConfigState(unpacked) !== null,
        unknownExtensions: getExtensionTypes(unpacked.tlvData).filter((type) => !knownExtensions.has(type)),
        isNonTransferable: getNonTransferable(unpacked) !== null
      }
    },
    catch: (error) =>
      error instanceof MalformedBytes ? error : new MalformedBytes(`${mint.toBase58()} is no mint: ${String(error)}`)
  })
