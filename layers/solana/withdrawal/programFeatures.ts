/**
 * What the deployed Swig program offers, as the chain itself shows it: an instruction that the program has refuses a
 * wallet that is none; a number that it does not have is read as the making of a wallet, and fails in another way.
 *
 * Source: the program's `instruction.rs`, whose unknown numbers are the first instruction, and `error.rs`.
 */
import { type PublicKey, TransactionInstruction, TransactionMessage, VersionedTransaction } from "@solana/web3.js"
import { Effect } from "effect"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { swigProgram } from "#layers/solana/swig/addresses.ts"

/** The program's numbers of its instructions since August 2026. */
export const replaceAuthorityV1 = 16
const createSubAccountV2 = 18

/** Number of accounts that the longest of these instructions reads. */
const accounts = 5
const notAWallet = JSON.stringify({ InstructionError: [0, { Custom: 1 }] })

interface ProgramFeatures {
  /** The root can put another key into a role. */
  readonly replacesKeys: boolean
  /** The program has sub-accounts whose permissions to sign, to withdraw and to switch are apart. */
  readonly hasScopedSubAccounts: boolean
}

const offers = Effect.fnUntraced(function* (payer: PublicKey, instruction: number) {
  const rpc = yield* SolanaRpc
  const { blockhash } = yield* rpc.latestBlockhash
  const data = Buffer.alloc(2)
  data.writeUInt16LE(instruction, 0)
  const keys = Array.from({ length: accounts }, () => ({ pubkey: payer, isSigner: true, isWritable: true }))
  const message = new TransactionMessage({
    payerKey: payer,
    recentBlockhash: blockhash,
    instructions: [new TransactionInstruction({ programId: swigProgram, keys, data })]
  }).compileToV0Message()
  const { error } = yield* rpc.simulate(new VersionedTransaction(message).serialize())
  return JSON.stringify(error) === notAWallet
})

/** Simulated with a key that has some SOL; nothing is signed. */
export const readProgramFeatures = Effect.fn("solana.readProgramFeatures")(function* (payer: PublicKey) {
  const [replacesKeys, hasScopedSubAccounts] = yield* Effect.all([
    offers(payer, replaceAuthorityV1),
    offers(payer, createSubAccountV2)
  ])
  return { replacesKeys, hasScopedSubAccounts } satisfies ProgramFeatures
})
