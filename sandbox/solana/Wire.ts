/** Transactions as they come over the wire: bytes, signatures, and instructions with their accounts. */
import {
  type AccountMeta,
  AddressLookupTableAccount,
  type PublicKey,
  SystemProgram,
  TransactionInstruction,
  VersionedTransaction
} from "@solana/web3.js"
import * as Base58 from "#domain/values/Base58.ts"
import * as Ed25519 from "#layers/solana/ed25519.ts"

/** The largest transaction that fits into a packet. */
export const packetBytes = 1232

/** Bytes that are not a transaction. */
export class UnreadableTransaction extends Error {
  override readonly name = "UnreadableTransaction"
}

export interface Wire {
  readonly bytes: Uint8Array
  /** The first signature in base58, by which the transaction is known. */
  readonly signature: string
  readonly transaction: VersionedTransaction
}

/** Reads a transaction; legacy or version 0, at most as large as a packet. */
export const readWire = (bytes: Uint8Array): Wire => {
  if (bytes.length > packetBytes) {
    throw new UnreadableTransaction(`base64 encoded too large: ${bytes.length} bytes (max: ${packetBytes})`)
  }
  try {
    const transaction = VersionedTransaction.deserialize(bytes)
    return { bytes, signature: Base58.encode(transaction.signatures[0]!), transaction }
  } catch (cause) {
    throw new UnreadableTransaction("failed to deserialize the transaction", { cause })
  }
}

/** Whether every account that must sign has signed exactly these bytes. */
export const isSigned = ({ transaction }: Wire): boolean => {
  const message = transaction.message.serialize()
  const { numRequiredSignatures } = transaction.message.header
  return (
    transaction.signatures.length === numRequiredSignatures &&
    transaction.signatures.every((signature, index) =>
      Ed25519.verify(transaction.message.staticAccountKeys[index]!.toBytes(), message, signature)
    )
  )
}

const advanceNonce = 4

/** Whether the first instruction advances a durable nonce, whose value then stands in the blockhash's place. */
export const usesNonce = ({ transaction: { message } }: Wire): boolean => {
  const first = message.compiledInstructions[0]
  return (
    first !== undefined &&
    message.staticAccountKeys[first.programIdIndex]?.equals(SystemProgram.programId) === true &&
    first.data[0] === advanceNonce
  )
}

type DataOf = (account: PublicKey) => Uint8Array | undefined

/** All accounts of a transaction, those that lookup tables name last. */
const allKeys = ({ transaction: { message } }: Wire, dataOf: DataOf) => {
  const tables = message.addressTableLookups.map(({ accountKey }) => {
    const data = dataOf(accountKey)
    if (data === undefined) throw new UnreadableTransaction(`the lookup table ${accountKey.toBase58()} does not exist`)
    return new AddressLookupTableAccount({ key: accountKey, state: AddressLookupTableAccount.deserialize(data) })
  })
  return message.getAccountKeys({ addressLookupTableAccounts: tables })
}

/** Keys of the accounts in base58. */
export const keysOf = (wire: Wire, dataOf: DataOf): ReadonlyArray<string> =>
  allKeys(wire, dataOf)
    .keySegments()
    .flat()
    .map((key) => key.toBase58())

/**
 * The instructions with their accounts as the chain sees them: an account that is writable once is writable for all.
 */
export const instructionsOf = (wire: Wire, dataOf: DataOf): ReadonlyArray<TransactionInstruction> => {
  const { message } = wire.transaction
  const keys = allKeys(wire, dataOf)
  const metaOf = (index: number): AccountMeta => ({
    pubkey: keys.get(index)!,
    isSigner: message.isAccountSigner(index),
    isWritable: message.isAccountWritable(index)
  })
  return message.compiledInstructions.map(
    ({ accountKeyIndexes, data, programIdIndex }) =>
      new TransactionInstruction({
        programId: keys.get(programIdIndex)!,
        keys: accountKeyIndexes.map(metaOf),
        data: Buffer.from(data)
      })
  )
}
