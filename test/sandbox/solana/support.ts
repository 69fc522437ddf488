/** A ledger behind HTTP with a client of it, for tests. */
import {
  Connection,
  Keypair,
  type PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction
} from "@solana/web3.js"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { swigProgram } from "#layers/solana/swig/addresses.ts"
import { answerRpc } from "#sandbox/solana/answerRpc.ts"
import { DelayedIntake, type Fate } from "#sandbox/solana/DelayedIntake.ts"
import type { Emulation } from "#sandbox/solana/Emulation.ts"
import { Ledger } from "#sandbox/solana/Ledger.ts"
import { rpcMethods } from "#sandbox/solana/rpcMethods.ts"
import { emulateSwig } from "#sandbox/solana/swig/Emulator.ts"

export interface TestChain {
  readonly ledger: Ledger
  readonly intake: DelayedIntake
  readonly connection: Connection
  readonly url: string
  /** What becomes of the transactions that are sent next. */
  fate: Fate
  /** The chain's time in seconds. */
  now: bigint
  readonly close: () => Promise<void>
}

/** A chain with the emulated Swig program, or the real one where its bytes are given. */
export const startTestChain = async (
  options: { readonly swigProgram?: Uint8Array; readonly emulations?: ReadonlyMap<string, Emulation> } = {}
): Promise<TestChain> => {
  const state: { fate: Fate; now: bigint } = { fate: "ok", now: 1_790_000_000n }
  const emulations = new Map(options.emulations)
  const swig = swigProgram.toBase58()
  if (options.swigProgram === undefined && !emulations.has(swig)) emulations.set(swig, emulateSwig)
  const ledger = new Ledger({
    now: () => state.now,
    emulations,
    ...(options.swigProgram === undefined ? {} : { swigProgram: options.swigProgram })
  })
  const intake = new DelayedIntake(ledger, () => state.fate)
  const methods = rpcMethods(ledger, intake, "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d")
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (part) => (body += part))
    request.on("end", () => {
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify(answerRpc(methods, body)))
    })
  })
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return Object.assign(state, {
    ledger,
    intake,
    url,
    connection: new Connection(url, { commitment: "confirmed", disableRetryOnRateLimit: true }),
    close: () =>
      new Promise<void>((done) => {
        server.closeAllConnections()
        server.close(() => done())
      })
  })
}

export const sol = 1_000_000_000n

/** A key with lamports. */
export const fundedKey = (chain: TestChain, lamports = 10n * sol): Keypair => {
  const key = Keypair.generate()
  chain.ledger.airdrop(key.publicKey, lamports)
  return key
}

/** A transaction of version 0, signed by the payer and the others. */
export const signed = async (
  chain: TestChain,
  instructions: ReadonlyArray<TransactionInstruction>,
  [payer, ...others]: readonly [Keypair, ...ReadonlyArray<Keypair>]
): Promise<VersionedTransaction> => {
  const { blockhash } = await chain.connection.getLatestBlockhash()
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions: [...instructions]
  })
  const transaction = new VersionedTransaction(message.compileToV0Message())
  transaction.sign([payer, ...others])
  return transaction
}

/** Sends without the node's own simulation, as the service does, and answers the error with which it landed. */
export const land = async (
  chain: TestChain,
  instructions: ReadonlyArray<TransactionInstruction>,
  signers: readonly [Keypair, ...ReadonlyArray<Keypair>]
) => {
  const transaction = await signed(chain, instructions, signers)
  const signature = await chain.connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true })
  const { value } = await chain.connection.getSignatureStatus(signature)
  if (value === null) throw new Error("The transaction did not land")
  return { signature, error: value.err, bytes: transaction.serialize().length }
}

export const lamportsOf = (chain: TestChain, key: PublicKey): bigint => chain.ledger.account(key)?.lamports ?? 0n
