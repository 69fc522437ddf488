/**
 * The Swig program's rules in this world, where the program itself is not given: roles, who signed, slots and
 * odometers of personal
 * signatures, sub-accounts and whether they are enabled. The wallet's account has the real layout. It is an
 * emulator: what it does
 * not check, such as compute units, the real program may refuse.
 */
import { MalformedBytes } from "#layers/solana/swig/ByteReader.ts"
import { decodeSwigInstruction, instructionNumbers, type SwigInstruction } from "#layers/solana/swig/SwigInstruction.ts"
import type { TransactionInstruction } from "@solana/web3.js"
import { swigProgram } from "#layers/solana/swig/addresses.ts"
import type { Emulation, ProgramContext } from "#sandbox/solana/Emulation.ts"
import { refuse } from "#sandbox/solana/swig/errors.ts"
import {
  addAuthority,
  createSubAccount,
  createWallet,
  removeAuthority,
  replaceAuthority,
  toggleSubAccount
} from "#sandbox/solana/swig/roles.ts"
import { signForRoot, signForSubAccount } from "#sandbox/solana/swig/signing.ts"
import { withdrawFromSubAccount } from "#sandbox/solana/swig/withdrawals.ts"

export const emulateSwig: Emulation = (instruction, context) => {
  const decoded = read(instruction, context)
  switch (decoded._tag) {
    case "CreateWallet":
      return createWallet({ decoded, instruction, context })
    case "AddAuthority":
      return addAuthority({ decoded, instruction, context })
    case "RemoveAuthority":
      return removeAuthority({ decoded, instruction, context })
    case "ReplaceAuthority":
      return replaceAuthority({ decoded, instruction, context })
    case "CreateSubAccount":
      return createSubAccount({ decoded, instruction, context })
    case "ToggleSubAccount":
      return toggleSubAccount({ decoded, instruction, context })
    case "WithdrawFromSubAccount":
      return withdrawFromSubAccount({ decoded, instruction, context })
    case "SignForSubAccount":
      return signForSubAccount({ decoded, instruction, context })
    case "SignForRoot":
      return signForRoot({ decoded, instruction, context })
  }
}

/** The program's first instruction, as which it reads every number that it does not have. */
const createNumber = 0

/**
 * The instruction. All but the making of a wallet check the owner of the first account before anything else.
 * Sub-accounts of the second kind are not emulated: their numbers are unknown here, as to a program older than August
 * 2026.
 */
const read = ({ data, keys }: TransactionInstruction, { ownerOf }: ProgramContext): SwigInstruction => {
  const number = data.length < 2 ? createNumber : data.readUInt16LE(0)
  const isKnown = instructionNumbers.has(number)
  if (!isKnown) throw refuse("creationTooShort")
  if (number !== createNumber && keys[0] !== undefined && !ownerOf(keys[0].pubkey).equals(swigProgram)) {
    throw refuse("walletOfAnotherProgram")
  }
  try {
    return decodeSwigInstruction(data)
  } catch (error) {
    if (error instanceof MalformedBytes) throw refuse("malformedData")
    throw error
  }
}
