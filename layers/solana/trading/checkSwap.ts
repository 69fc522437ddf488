/**
 * Whether a swap that Jupiter built does what was requested, and nothing else. On chain the sub-account would sign
 * anything that the agent packs, so only this check keeps a false answer from moving the owner's tokens.
 *
 * Only Jupiter's `route_v2` is accepted: its data has the amounts, and its first accounts those whose tokens move.
 */
import { PublicKey, TransactionInstruction } from "@solana/web3.js"
import { Result, Schema } from "effect"
import { ByteReader, MalformedBytes } from "#layers/solana/swig/ByteReader.ts"
import { associatedAccount, associatedTokenProgram } from "#layers/solana/token/programs.ts"
import type { Mint } from "#layers/solana/token/Mint.ts"
import type { BuiltInstruction, BuiltSwap } from "#layers/solana/trading/JupiterClient.ts"

const jupiterProgram = new PublicKey("JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4")

/** A swap that is not signed; the message is what is wrong with it. */
export class SwapRefused extends Schema.TaggedError<SwapRefused>()("SwapRefused", { message: Schema.String }) {}

export interface Leg {
  /** The sub-account, owner of the tokens. */
  readonly account: PublicKey
  readonly sell: Mint
  readonly buy: Mint
  readonly sellRaw: bigint
  /** The least that it must yield: our own floor, whatever is quoted. */
  readonly minBuyRaw: bigint
}

/** What a swap must not touch. */
export interface Untouchable {
  readonly agent: PublicKey
  readonly wallet: PublicKey
  /** The sub-account's other token accounts. */
  readonly others: ReadonlyArray<PublicKey>
}

const routeV2 = "bb64facc31c4af14"
const wholeBps = 10_000n

const expect = (holds: boolean, what: string): void => {
  if (!holds) throw new MalformedBytes(what)
}

const checkTerms = (built: BuiltSwap, { buy, minBuyRaw, sell, sellRaw }: Leg): void => {
  expect(built.inputMint === sell.mint.toBase58(), `it sells ${built.inputMint}`)
  expect(built.outputMint === buy.mint.toBase58(), `it buys ${built.outputMint}`)
  expect(BigInt(built.inAmount) === sellRaw, `it sells ${built.inAmount} instead of ${sellRaw}`)
  expect(
    BigInt(built.otherAmountThreshold) >= minBuyRaw,
    `it promises ${built.otherAmountThreshold}, below the floor of ${minBuyRaw}`
  )
  expect(built.otherInstructions.length === 0, "it has instructions that were not requested")
  expect(built.tipInstruction == null, "it pays a tip")
  expect(built.cleanupInstruction === null, "it cleans up; hold wrapped SOL instead of unwrapping it")
  for (const { programId } of built.setupInstructions) {
    expect(programId === associatedTokenProgram.toBase58(), `its setup calls ${programId}`)
  }
}

const checkData = (data: Uint8Array, { minBuyRaw, sellRaw }: Leg): void => {
  const reader = new ByteReader(data, "route")
  expect(Buffer.from(reader.bytes(8)).toString("hex") === routeV2, "it is not Jupiter's route_v2")
  const [inAmount, quoted] = [reader.u64(), reader.u64()]
  const slippageBps = BigInt(reader.u16())
  expect(inAmount === sellRaw, `its data sells ${inAmount} instead of ${sellRaw}`)
  expect(slippageBps <= wholeBps, `its data has a slippage of ${slippageBps} basis points`)
  const floor = (quoted * (wholeBps - slippageBps)) / wholeBps
  expect(floor >= minBuyRaw, `its data lets it yield ${floor}, below the floor of ${minBuyRaw}`)
  expect(reader.u16() === 0 && reader.u16() === 0, "its data has a fee")
}

const checkAccounts = (
  { accounts }: BuiltInstruction,
  { account, buy, sell }: Leg,
  { agent, others, wallet }: Untouchable
): void => {
  const expected: ReadonlyArray<readonly [PublicKey, string]> = [
    [account, "taker"],
    [associatedAccount(account, sell.mint, sell.program), "source"],
    [associatedAccount(account, buy.mint, buy.program), "destination"],
    [sell.mint, "sold mint"],
    [buy.mint, "bought mint"],
    [sell.program, "token program"],
    [buy.program, "token program"],
    // Anchor writes the program itself where an optional account is left out.
    [jupiterProgram, "receiver"]
  ]
  for (const [index, [key, name]] of expected.entries()) {
    expect(accounts[index]?.pubkey === key.toBase58(), `its ${name} is ${accounts[index]?.pubkey}`)
  }
  const forbidden = new Set([agent, wallet, ...others].map((key) => key.toBase58()))
  for (const [index, { isSigner, isWritable, pubkey }] of accounts.entries()) {
    const isTaker = pubkey === account.toBase58()
    expect(!isSigner || isTaker, `${pubkey} signs it`)
    expect(!isTaker || !isWritable, "it may change the sub-account itself")
    expect(!forbidden.has(pubkey), `its account ${index} is ${pubkey}, which has no part in the trade`)
  }
}

/** The instruction that the sub-account signs. */
export const checkSwap = (
  built: BuiltSwap,
  leg: Leg,
  untouchable: Untouchable
): Result.Result<TransactionInstruction, SwapRefused> =>
  Result.try({
    try: () => {
      const { swapInstruction } = built
      checkTerms(built, leg)
      expect(swapInstruction.programId === jupiterProgram.toBase58(), `it calls ${swapInstruction.programId}`)
      checkData(swapInstruction.data, leg)
      checkAccounts(swapInstruction, leg, untouchable)
      return new TransactionInstruction({
        programId: jupiterProgram,
        keys: swapInstruction.accounts.map(({ pubkey, ...meta }) => ({ ...meta, pubkey: new PublicKey(pubkey) })),
        data: Buffer.from(swapInstruction.data)
      })
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
  if (token.hasTransferFee) return "transfers of it take a fee, so that the floor would not hold"
  if (token.hasTransferHook) return "its transfers call a program that is not checked"
  return undefined
}
