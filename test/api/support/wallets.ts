/** Wallets of contract tests: keys that sign what the API issues, as a browser's wallet would. */
import { type Hex, keccak256, recoverMessageAddress, recoverTypedDataAddress, toHex } from "viem"
import { privateKeyToAccount } from "viem/accounts"

let wallets = 0

/** A wallet that no other call returns. */
export const newWallet = () => {
  wallets += 1
  return privateKeyToAccount(keccak256(toHex(`ballast contract test wallet ${wallets}`)))
}

export type Wallet = ReturnType<typeof newWallet>

/** Signs typed data exactly as the API answered it. */
export const signTypedData = (wallet: Wallet, typedData: unknown) =>
  wallet.signTypedData(typedData as Parameters<Wallet["signTypedData"]>[0])

/** Who signed typed data; undefined when nobody did. */
export const signerOfTypedData = (typedData: object, signature: string): Promise<string | undefined> =>
  recoverTypedDataAddress({ ...typedData, signature } as Parameters<typeof recoverTypedDataAddress>[0]).catch(
    () => undefined
  )

/** Who signed a text; undefined when nobody did. */
export const signerOfText = (text: string, signature: string): Promise<string | undefined> =>
  recoverMessageAddress({ message: text, signature: signature as Hex }).catch(() => undefined)
