/** The part of the package that is used, so that an installation from before it still compiles. */
declare module 'aws4fetch' {
  interface AwsClientOptions {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
    readonly service: string;
    readonly region: string;
    readonly retries: number;
  }
  export class AwsClient {
    constructor(options: AwsClientOptions);
    fetch(url: string, init: RequestInit): Promise<Response>;
  }
}
