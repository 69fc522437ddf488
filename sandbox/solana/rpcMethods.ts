/** The JSON-RPC methods of a Solana node that clients of this world need, in the shapes that nodes answer. */
import { PublicKey } from "@solana/web3.js"
import * as Base58 from "#domain/values/Base58.ts"
import type { HeldByAccounts } from "#sandbox/solana/heldByAccounts.ts"
import type { Ledger } from "#sandbox/solana/Ledger.ts"
import type { LedgerAccount } from "#sandbox/solana/LedgerAccount.ts"
import type { Outcome } from "#sandbox/solana/Outcome.ts"
import { readWire, UnreadableTransaction, type Wire } from "#sandbox/solana/Wire.ts"
import { RpcError } from "#sandbox/solana/RpcError.ts"
import type { Landed } from "#sandbox/solana/Statuses.ts"
import { tokenAccountsOf, tokenBalanceOf } from "#sandbox/solana/tokenAccounts.ts"

/** Slots after which a block cannot be taken back. */
const finalizedAfter = 31n
const addressesOfARequest = 100
const signaturesOfARequest = 256
const signaturesOfAPage = 1_000

const maxOf = (left: bigint, right: bigint): bigint => (left > right ? left : right)

type Params = ReadonlyArray<unknown>
type Method = (params: Params) => unknown
interface Config {
  readonly [name: string]: unknown
}

const configOf = (value: unknown): Config => (typeof value === "object" && value !== null ? (value as Config) : {})

const publicKey = (value: unknown): PublicKey => {
  if (typeof value === "string" && Base58.isBytes32(value)) return new PublicKey(value)
  throw new RpcError(-32602, "Invalid param: WrongSize")
}

const list = (value: unknown, limit: number): ReadonlyArray<unknown> => {
  if (Array.isArray(value) && value.length <= limit) return value
  throw new RpcError(-32602, `Too many inputs provided; max ${limit}`)
}

const decode = (value: unknown, encoding: unknown): Wire => {
  const text = typeof value === "string" ? value : ""
  const bytes = encoding === "base64" ? Uint8Array.from(Buffer.from(text, "base64")) : Base58.decode(text)
  if (bytes === undefined) throw new RpcError(-32602, "invalid base58 encoding")
  try {
    return readWire(bytes)
  } catch (error) {
    if (error instanceof UnreadableTransaction) throw new RpcError(-32602, error.message)
    throw error
  }
}

/** An account as nodes show it; base64 unless base58 is asked for. */
export const accountView = (account: LedgerAccount | undefined, config: Config) => {
  if (account === undefined) return null
  const slice = configOf(config["dataSlice"])
  const [offset, length] = [Number(slice["offset"] ?? 0), Number(slice["length"] ?? account.data.length)]
  const data = account.data.subarray(offset, offset + length)
  return {
    data: config["encoding"] === "base58" ? Base58.encode(data) : [Buffer.from(data).toString("base64"), "base64"],
    executable: account.executable,
    lamports: Number(account.lamports),
    owner: account.owner,
    rentEpoch: 0,
    space: account.data.length
  }
}

/** What may hold transactions back before the ledger has them. */
export interface Intake {
  /** False when the transaction was taken, and is lost or late. */
  readonly passes: (wire: Wire) => boolean
}

/** All methods over a ledger. `genesisHash` is the chain's. */
export const rpcMethods = (
  ledger: Ledger,
  intake: Intake,
  genesisHash: string
): Readonly<Record<string, Method | undefined>> => {
  const inContext = (value: unknown) => ({ context: { apiVersion: "3.0.0", slot: Number(ledger.slot) }, value })

  /** The slot or height of the last block with the commitment. */
  const at = (config: unknown, latest: bigint): bigint =>
    configOf(config)["commitment"] === "finalized" ? maxOf(0n, latest - finalizedAfter - 1n) : latest

  const confirmationOf = ({ error, slot }: Landed) => {
    const isFinal = ledger.slot - slot > finalizedAfter
    return {
      slot: Number(slot),
      confirmations: isFinal ? null : Number(ledger.slot - slot),
      err: error,
      status: error === null ? { Ok: null } : { Err: error },
      confirmationStatus: isFinal ? "finalized" : ledger.slot > slot ? "confirmed" : "processed"
    }
  }

  const preflight = (wire: Wire) => {
    const { error, logs, units } = ledger.isCurrent(wire)
      ? ledger.simulate(wire, { checkSignatures: true })
      : { error: "BlockhashNotFound", logs: [], units: 0n }
    if (error === "SignatureFailure") throw new RpcError(-32003, "Transaction signature verification failure")
    if (error === null) return
    throw new RpcError(-32002, `Transaction simulation failed: ${words(error)}`, {
      err: error,
      logs,
      unitsConsumed: Number(units),
      accounts: null,
      returnData: null
    })
  }

  const simulationView = ({ error, logs, units }: Outcome) =>
    inContext({ err: error, logs, accounts: null, unitsConsumed: Number(units), returnData: null })

  return {
    getHealth: () => "ok",
    getVersion: () => ({ "solana-core": "3.0.0", "feature-set": 0 }),
    getGenesisHash: () => genesisHash,
    getSlot: () => Number(ledger.slot),
    getFirstAvailableBlock: () => 0,
    getBlockHeight: () => Number(ledger.blockHeight),
    getEpochInfo: ([config]) => ({
      absoluteSlot: Number(at(config, ledger.slot)),
      blockHeight: Number(at(config, ledger.blockHeight)),
      epoch: Number(ledger.slot / 432_000n),
      slotIndex: Number(ledger.slot % 432_000n),
      slotsInEpoch: 432_000,
      transactionCount: null
    }),
    getLatestBlockhash: () => {
      const { blockhash, lastValidBlockHeight } = ledger.blockhashes.latest
      return inContext({ blockhash, lastValidBlockHeight: Number(lastValidBlockHeight) })
    },
    isBlockhashValid: ([hash]) => inContext(ledger.blockhashes.isValid(String(hash))),
    getFeeForMessage: ([message]) => inContext(5_000 * (Buffer.from(String(message), "base64").at(0)! & 0x7f)),
    getRecentPrioritizationFees: () => [{ slot: Number(ledger.slot), prioritizationFee: 0 }],
    getMinimumBalanceForRentExemption: ([bytes]) => Number(ledger.rentOf(Number(bytes))),
    getBalance: ([key]) => inContext(Number(ledger.account(publicKey(key))?.lamports ?? 0n)),
    getAccountInfo: ([key, config]) => inContext(accountView(ledger.account(publicKey(key)), configOf(config))),
    getMultipleAccounts: ([keys, config]) =>
      inContext(
        list(keys, addressesOfARequest).map((key) => accountView(ledger.account(publicKey(key)), configOf(config)))
      ),
    getTokenAccountsByOwner: ([owner, filter, config]) => {
      const { mint, programId } = configOf(filter)
      const found = tokenAccountsOf(ledger, publicKey(owner), {
        mint: mint === undefined ? undefined : publicKey(mint),
        program: programId === undefined ? undefined : publicKey(programId)
      })
      return inContext(
        found.map((account) => ({ pubkey: account.key.toString(), account: accountView(account, configOf(config)) }))
      )
    },
    getTokenAccountBalance: ([key]) => {
      const balance = tokenBalanceOf(ledger, publicKey(key))
      if (balance === undefined) throw new RpcError(-32602, "Invalid param: could not find account")
      return inContext(balance)
    },
    simulateTransaction: ([transaction, given]) => {
      const config = configOf(given)
      const wire = decode(transaction, config["encoding"])
      if (config["replaceRecentBlockhash"] !== true && !ledger.isCurrent(wire)) {
        return simulationView({ error: "BlockhashNotFound", logs: [], units: 0n })
      }
      return simulationView(ledger.simulate(wire, { checkSignatures: config["sigVerify"] === true }))
    },
    sendTransaction: ([transaction, given]) => {
      const config = configOf(given)
      const wire = decode(transaction, config["encoding"])
      const isKnown = ledger.statuses.has(wire.signature)
      if (config["skipPreflight"] !== true) {
        if (isKnown) {
          throw new RpcError(-32002, "Transaction simulation failed: This transaction has already been processed", {
            err: "AlreadyProcessed",
            logs: []
          })
        }
        preflight(wire)
      }
      if (!isKnown && intake.passes(wire)) ledger.land(wire)
      return wire.signature
    },
    getSignatureStatuses: ([signatures, config]) => {
      const searches = configOf(config)["searchTransactionHistory"] === true
      return inContext(
        list(signatures, signaturesOfARequest).map((signature) => {
          const landed = ledger.statuses.find(String(signature), ledger.slot, searches)
          return landed === undefined ? null : confirmationOf(landed)
        })
      )
    },
    getTransaction: ([signature]) => {
      const landed = ledger.statuses.find(String(signature), ledger.slot, true)
      return landed === undefined ? null : transactionView(landed)
    },
    getSignaturesForAddress: ([key, given]) => {
      const config = configOf(given)
      const limit = Math.min(signaturesOfAPage, Number(config["limit"] ?? signaturesOfAPage))
      const listed = ledger.statuses
        .naming(publicKey(key).toBase58())
        .filter(([, { slot }]) => slot <= at(config, ledger.slot))
      const from =
        config["before"] === undefined ? 0 : listed.findIndex(([signature]) => signature === config["before"]) + 1
      return listed.slice(from, from + limit).map(([signature, landed]) => {
        const { confirmationStatus, err, slot } = confirmationOf(landed)
        return { signature, slot, err, memo: null, blockTime: Number(landed.time), confirmationStatus }
      })
    }
  }
}

const words = (error: unknown): string => {
  if (error === "BlockhashNotFound") return "Blockhash not found"
  return typeof error === "string" ? error : JSON.stringify(error)
}

const tokenView = ({ mint, owner, place, raw }: HeldByAccounts["tokens"][number]) => ({
  accountIndex: place,
  mint,
  owner,
  uiTokenAmount: { amount: raw.toString() }
})

const transactionView = ({ after, before, bytes, error, logs, slot, time, units }: Landed) => ({
  slot: Number(slot),
  blockTime: Number(time),
  version: readWire(bytes).transaction.version,
  transaction: [Buffer.from(bytes).toString("base64"), "base64"],
  meta: {
    err: error,
    status: error === null ? { Ok: null } : { Err: error },
    logMessages: logs,
    computeUnitsConsumed: Number(units),
    preBalances: before.lamports.map(Number),
    postBalances: after.lamports.map(Number),
    preTokenBalances: before.tokens.map(tokenView),
    postTokenBalances: after.tokens.map(tokenView)
  }
})
