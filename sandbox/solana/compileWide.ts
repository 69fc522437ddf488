/**
 * A transaction of instructions without the limit of a packet, for runs that only this machine's virtual machine
 * sees.
 */
import { type Address, getCompiledTransactionMessageEncoder, type Transaction } from "@solana/kit"
import type { PublicKey, TransactionInstruction } from "@solana/web3.js"

interface Role {
  isSigner: boolean
  isWritable: boolean
}

const rank = ({ isSigner, isWritable }: Role) => (isSigner ? 0 : 2) + (isWritable ? 0 : 1)

/** All accounts, the payer first, then by what they may do, as a message orders them. */
const accountsOf = (payer: PublicKey, instructions: ReadonlyArray<TransactionInstruction>) => {
  const roles = new Map<string, Role>([[payer.toBase58(), { isSigner: true, isWritable: true }]])
  for (const { keys, programId } of instructions) {
    for (const { isSigner, isWritable, pubkey } of [
      ...keys,
      { pubkey: programId, isSigner: false, isWritable: false }
    ]) {
      const role = roles.get(pubkey.toBase58()) ?? { isSigner: false, isWritable: false }
      roles.set(pubkey.toBase58(), {
        isSigner: role.isSigner || isSigner,
        isWritable: role.isWritable || isWritable
      })
    }
  }
  const [first, ...rest] = [...roles]
  return [first!, ...rest.toSorted(([, left], [, right]) => rank(left) - rank(right))]
}

export interface WideTransaction {
  readonly transaction: Transaction
  readonly signers: number
  /** All accounts in base58, in the order of the message. */
  readonly accounts: ReadonlyArray<string>
}

/**
 * Compiles the instructions into one message of version 0. The payer's signature is the given one, so that the
 * transaction keeps
 * its name; the others are empty, and the virtual machine must not check them.
 */
export const compileWide = ({
  blockhash,
  instructions,
  payer,
  signature
}: {
  readonly payer: PublicKey
  readonly instructions: ReadonlyArray<TransactionInstruction>
  readonly blockhash: string
  readonly signature: Uint8Array
}): WideTransaction => {
  const accounts = accountsOf(payer, instructions)
  const indexOf = new Map(accounts.map(([account], index) => [account, index]))
  const count = (holds: (role: Role) => boolean) => accounts.filter(([, role]) => holds(role)).length
  const signers = count(({ isSigner }) => isSigner)
  const messageBytes = getCompiledTransactionMessageEncoder().encode({
    version: 0,
    header: {
      numSignerAccounts: signers,
      numReadonlySignerAccounts: count(({ isSigner, isWritable }) => isSigner && !isWritable),
      numReadonlyNonSignerAccounts: count(({ isSigner, isWritable }) => !isSigner && !isWritable)
    },
    staticAccounts: accounts.map(([account]) => account as Address),
    lifetimeToken: blockhash,
    instructions: instructions.map(({ data, keys, programId }) => ({
      programAddressIndex: indexOf.get(programId.toBase58())!,
      accountIndices: keys.map(({ pubkey }) => indexOf.get(pubkey.toBase58())!),
      data
    }))
  } as Parameters<ReturnType<typeof getCompiledTransactionMessageEncoder>["encode"]>[0])
  const signatures = Object.fromEntries(
    accounts
      .slice(0, signers)
      .map(([account], index) => [account, index === 0 ? signature : new Uint8Array(64).fill(index)])
  )
  return {
    transaction: { messageBytes, signatures } as unknown as Transaction,
    signers,
    accounts: accounts.map(([account]) => account)
  }
}
