/** The Swig program's error numbers that clients meet. Source: the program's `error.rs` and `state/src/lib.rs`. */
import { ProgramError } from "#sandbox/solana/Emulation.ts"

const codes = {
  walletOfAnotherProgram: 1,
  walletExists: 2,
  calledByProgram: 8,
  wrongWalletAddress: 9,
  roleMissing: 12,
  noAction: 13,
  creationTooShort: 20,
  wrongAccounts: 22,
  notSystemProgram: 24,
  malformedData: 33,
  subAccountOfAnotherProgram: 34,
  mayNotCreateSubAccount: 36,
  subAccountDisabled: 38,
  subAccountOfAnotherWallet: 39,
  subAccountOfAnotherRole: 40,
  tokensOfAnotherOwner: 41,
  wrongKeyLength: 56,
  unsupportedHolder: 57,
  sameKey: 70,
  malformedProof: 3001,
  authorityAccountMissing: 3003,
  permissionDenied: 3005,
  permissionMissing: 3006,
  mayNotManageAuthorities: 3010,
  rentSpent: 3011,
  rootIsNotRemoved: 3012,
  signatureRefused: 3015,
  signatureReused: 3017
} as const

export type SwigError = keyof typeof codes

/** The program's refusal. */
export const refuse = (name: SwigError): ProgramError => new ProgramError(codes[name], name)
