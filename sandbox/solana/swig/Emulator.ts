/**
 * The Swig program's rules in this world, where the program itself is not given: roles, who signed, slots and
 * odometers of personal
 * signatures, sub-accounts and whether they are enabled. The wallet's account has the real layout. It is an
 * emulator: what it does
 * not check, such as compute units, the real program may refuse.
 */
import { MalformedBytes } from "#layers/solana/swig/ByteReader.ts"
import { decodeSwigInstruction, type SwigInstruction } from "#layers/solana/swig/SwigInstruction.ts"
import type { Emulation } from "#sandbox/solana/Emulation.ts"
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
  const decoded = read(instruction.data)
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

const read = (data: Uint8Array): SwigInstruction => {
  try {
    return decodeSwigInstruction(data)
  } catch (error) {
    if (error instanceof MalformedBytes) throw refuse("malformedData")
    throw error
  }
}
