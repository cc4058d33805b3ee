import type { Client, Outcome } from "./index.js";

export interface ApproximatePosition extends GeolocationPosition {
  accuracyMode: "approximate";
}

export interface ApproximateOptions extends PositionOptions {
  accuracyMode?: "approximate";
}

export class BlurredGeolocation implements Geolocation {
  constructor(client: Pick<Client, "report">, source?: Geolocation);
  getCurrentPosition(success: (position: ApproximatePosition) => void, failure?: PositionErrorCallback | null, options?: ApproximateOptions): void;
  watchPosition(success: (position: ApproximatePosition) => void, failure?: PositionErrorCallback | null, options?: ApproximateOptions): number;
  clearWatch(id: number): void;
}

export function blurredPosition(report: Pick<Outcome, "lat" | "lon" | "accuracyM">, timestamp?: number): ApproximatePosition;
export function install(client: Pick<Client, "report">, target?: Navigator): BlurredGeolocation;
