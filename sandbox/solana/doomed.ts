/** A transaction that costs what another one would, and fails. */
import { ComputeBudgetProgram, SystemProgram, TransactionInstruction } from "@solana/web3.js"
import type { Wire } from "#sandbox/solana/Wire.ts"

/** No instruction of the system program has this number. */
const unknownInstruction = Buffer.from([255, 255, 255, 255])

/**
 * The signers and the compute budget of a transaction that an emulated program refused, and an instruction that
 * fails. The virtual
 * machine takes the fee for it, as a block would.
 */
export const doomed = (
  instructions: ReadonlyArray<TransactionInstruction>,
  { transaction: { message } }: Wire
): ReadonlyArray<TransactionInstruction> => [
  ...instructions.filter(({ programId }) => programId.equals(ComputeBudgetProgram.programId)),
  new TransactionInstruction({
    programId: SystemProgram.programId,
    keys: message.staticAccountKeys
      .slice(0, message.header.numRequiredSignatures)
      .map((pubkey, index) => ({ pubkey, isSigner: true, isWritable: message.isAccountWritable(index) })),
    data: unknownInstruction
  })
]
