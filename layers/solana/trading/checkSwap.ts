/**
 * Whether a swap that Jupiter built does what was requested, and nothing else. On chain the sub-account would sign
 * anything that the agent packs, so only this check, and the amounts that the token program is made to compare after
 * the swap (minimumAmount.ts), keep a false answer from moving the owner's tokens.
 */
import { PublicKey, SystemProgram, TransactionInstruction } from "@solana/web3.js"
import { Result, Schema } from "effect"
import { MalformedBytes } from "#layers/solana/swig/ByteReader.ts"
import { associatedAccount, associatedTokenProgram, isTokenProgram } from "#layers/solana/token/programs.ts"
import type { Mint } from "#layers/solana/token/Mint.ts"
import type { BuiltInstruction, BuiltSwap } from "#layers/solana/trading/JupiterClient.ts"
import { jupiterProgram, accountPositionsOf, readRoute, type Traded } from "#layers/solana/trading/Route.ts"

/** A swap that is not signed; the message is what is wrong with it. */
export class SwapRefused extends Schema.TaggedError<SwapRefused>()("SwapRefused", { message: Schema.String }) {}

export interface Leg extends Traded {
  /** The sub-account, owner of the tokens. */
  readonly account: PublicKey
  readonly sellRaw: bigint
  /** The minimum that it must yield: our own, whatever is quoted. */
  readonly minBuyRaw: bigint
}

/** What a swap must not touch. */
export interface Untouchable {
  readonly agent: PublicKey
  readonly wallet: PublicKey
}

/** An account that the sub-account needs for the swap, its own. */
export interface Opened {
  readonly mint: PublicKey
  readonly tokenProgram: PublicKey
}

export interface CheckedSwap {
  /** What the sub-account signs. */
  readonly instruction: TransactionInstruction
  /** Where it gets what it buys, and what is on the route between two pools. */
  readonly opened: ReadonlyArray<Opened>
}

/** Accounts between hops that are opened at most; routes have no more steps. */
const openedLimit = 4
/** The numbers of the associated token program's instructions that open an account; the older one has none. */
const opensAnAccount: ReadonlySet<string> = new Set(["", "00", "01"])

const expect = (holds: boolean, what: string): void => {
  if (!holds) throw new MalformedBytes(what)
}

const checkTerms = (built: BuiltSwap, { buy, minBuyRaw, sell, sellRaw }: Leg): void => {
  expect(built.inputMint === sell.mint.toBase58(), `it sells ${built.inputMint}`)
  expect(built.outputMint === buy.mint.toBase58(), `it buys ${built.outputMint}`)
  expect(BigInt(built.inAmount) === sellRaw, `it sells ${built.inAmount} instead of ${sellRaw}`)
  expect(
    BigInt(built.otherAmountThreshold) >= minBuyRaw,
    `it promises ${built.otherAmountThreshold}, below the minimum of ${minBuyRaw}`
  )
  expect(built.otherInstructions.length === 0, "it has instructions that were not requested")
  expect(built.tipInstruction == null, "it pays a tip")
  expect(built.cleanupInstruction === null, "it cleans up; hold wrapped SOL instead of unwrapping it")
}

/** What a setup instruction opens: an associated account of the taker, and nothing else. */
const readOpened = ({ accounts, data, programId }: BuiltInstruction, { account }: Leg): Opened => {
  expect(programId === associatedTokenProgram.toBase58(), `its setup calls ${programId}`)
  expect(opensAnAccount.has(Buffer.from(data).toString("hex")), "its setup does more than open an account")
  const [, opened, owner, mint, system, tokenProgram] = accounts.map(({ pubkey }) => new PublicKey(pubkey))
  expect(owner?.equals(account) === true, `its setup opens an account of ${owner?.toBase58()}`)
  expect(system?.equals(SystemProgram.programId) === true, "its setup names another system program")
  if (mint === undefined || tokenProgram === undefined || !isTokenProgram(tokenProgram)) {
    throw new MalformedBytes("its setup opens an account of no token program")
  }
  const isAssociated = opened?.equals(associatedAccount(account, mint, tokenProgram)) === true
  expect(isAssociated, `its setup opens ${opened?.toBase58()}`)
  return { mint, tokenProgram }
}

const checkAccounts = ({ accounts }: BuiltInstruction, { account }: Leg, { agent, wallet }: Untouchable): void => {
  const forbidden = new Set([agent, wallet].map((key) => key.toBase58()))
  for (const [index, { isSigner, isWritable, pubkey }] of accounts.entries()) {
    const isTaker = pubkey === account.toBase58()
    expect(!isSigner || isTaker, `${pubkey} signs it`)
    expect(!isTaker || !isWritable, "it may change the sub-account itself")
    expect(!forbidden.has(pubkey), `its account ${index} is ${pubkey}, which has no part in the trade`)
  }
}

const checkRoute = ({ accounts, data, programId }: BuiltInstruction, leg: Leg): void => {
  const { minBuyRaw, sellRaw } = leg
  expect(programId === jupiterProgram.toBase58(), `it calls ${programId}`)
  const route = readRoute(data)
  expect(route.inAmount === sellRaw, `its data sells ${route.inAmount} instead of ${sellRaw}`)
  expect(route.minOutRaw >= minBuyRaw, `its data lets it yield ${route.minOutRaw}, below the minimum of ${minBuyRaw}`)
  for (const [index, { keys, name }] of accountPositionsOf(route, leg).entries()) {
    const found = accounts[index]?.pubkey
    const isRight = found !== undefined && (keys?.some((key) => key.toBase58() === found) ?? true)
    expect(isRight, `its ${name} is ${found}`)
  }
}

/** The instruction that the sub-account signs, and the accounts that it needs. */
export const checkSwap = (
  built: BuiltSwap,
  leg: Leg,
  untouchable: Untouchable
): Result.Result<CheckedSwap, SwapRefused> =>
  Result.try({
    try: () => {
      const { setupInstructions, swapInstruction } = built
      checkTerms(built, leg)
      checkRoute(swapInstruction, leg)
      checkAccounts(swapInstruction, leg, untouchable)
      const named = [
        { mint: leg.buy.mint, tokenProgram: leg.buy.program },
        ...setupInstructions.map((one) => readOpened(one, leg)).filter(({ mint }) => !mint.equals(leg.sell.mint))
      ]
      const opened = [...new Map(named.map((one) => [one.mint.toBase58(), one])).values()]
      expect(opened.length <= openedLimit, `it needs ${opened.length} accounts of the sub-account`)
      const instruction = new TransactionInstruction({
        programId: jupiterProgram,
        keys: swapInstruction.accounts.map(({ pubkey, ...meta }) => ({ ...meta, pubkey: new PublicKey(pubkey) })),
        data: Buffer.from(swapInstruction.data)
      })
      return { instruction, opened }
    },
    catch: (error) =>
      new SwapRefused({
        message: `Jupiter's swap does not match the request and is not signed: ${error instanceof Error ? error.message : String(error)}`
      })
  })

/** Why a token is not traded at all now; undefined where it may be. */
export const untradable = (token: Mint): string | undefined => {
  if (token.isPaused) return "its issuer has paused it"
  if (token.isNonTransferable) return "it cannot be transferred"
  if (token.startsFrozen) return "its issuer must thaw each account first"
  if (token.hasTransferFee) return "transfers of it take a fee, so that the minimum would not hold"
  if (token.hookProgram !== null) return "its transfers call a program that is not checked"
  if (token.bearsInterest) return "its shown amount grows with interest, so that its price is of no raw unit"
  const [unknown] = token.unknownExtensions
  if (unknown !== undefined) return `its mint has the extension ${unknown}, whose rules are not known`
  return undefined
}
