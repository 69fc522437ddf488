/** What is wrong with a message of a commit; an empty list says that nothing is. */
export declare const faultsOf: (text: string) => ReadonlyArray<string>
