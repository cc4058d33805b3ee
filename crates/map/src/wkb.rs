//! Well-known binary, the geometries of GeoParquet: points out, points and areas in.

use lrgeo_geo::Coord;

use crate::geojson::{FEW_POINTS, Shape, closed, lon_lat};
use crate::region::Polygon;

const POINT: u32 = 1;
const POLYGON: u32 = 3;
const MULTI_POLYGON: u32 = 6;

/// A point, longitude first.
pub(crate) fn point(at: Coord) -> Vec<u8> {
    let mut out = vec![1];
    out.extend_from_slice(&POINT.to_le_bytes());
    out.extend_from_slice(&at.lon().to_le_bytes());
    out.extend_from_slice(&at.lat().to_le_bytes());
    out
}

/// A geometry; the reason if it is none. Further dimensions are read over, and so is PostGIS's SRID.
pub(crate) fn shape(bytes: &[u8]) -> Result<Shape, String> {
    let mut reader = Reader { bytes, big_endian: false, dimensions: 2 };
    let shape = match reader.head()? {
        POINT => Shape::Point(reader.coord()?),
        POLYGON => area(reader.polygon()?)?,
        MULTI_POLYGON => {
            let mut rings = Vec::new();
            for _ in 0..reader.count(9)? {
                match reader.head()? {
                    POLYGON => rings.extend(reader.polygon()?),
                    other => {
                        return Err(format!("a MultiPolygon holds a geometry of type {other}"));
                    }
                }
            }
            area(rings)?
        }
        2 => return Ok(Shape::Other("LineString".into())),
        4 => return Ok(Shape::Other("MultiPoint".into())),
        5 => return Ok(Shape::Other("MultiLineString".into())),
        7 => return Ok(Shape::Other("GeometryCollection".into())),
        other => return Err(format!("WKB has no geometry of type {other}")),
    };
    match reader.bytes.is_empty() {
        true => Ok(shape),
        false => Err("WKB goes on after its end".into()),
    }
}

fn area(rings: Vec<Vec<Coord>>) -> Result<Shape, String> {
    Polygon::new(rings).map(Shape::Area).ok_or_else(|| "an area without a ring".into())
}

struct Reader<'b> {
    bytes: &'b [u8],
    big_endian: bool,
    dimensions: usize,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (head, rest) = self.bytes.split_first_chunk::<N>().ok_or("WKB is cut off")?;
        self.bytes = rest;
        Ok(*head)
    }

    fn u32(&mut self) -> Result<u32, String> {
        let bytes = self.take()?;
        Ok(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn f64(&mut self) -> Result<f64, String> {
        let bytes = self.take()?;
        Ok(if self.big_endian { f64::from_be_bytes(bytes) } else { f64::from_le_bytes(bytes) })
    }

    /// Byte order and type, without the flags and thousands that stand for dimensions.
    fn head(&mut self) -> Result<u32, String> {
        self.big_endian = match self.take::<1>()? {
            [0] => true,
            [1] => false,
            [other] => return Err(format!("WKB starts with 0 or 1, not {other}")),
        };
        let kind = self.u32()?;
        let flags = usize::from(kind & 0x8000_0000 != 0) + usize::from(kind & 0x4000_0000 != 0);
        if kind & 0x2000_0000 != 0 {
            self.u32()?;
        }
        let kind = kind & 0x0fff_ffff;
        self.dimensions = 2 + flags + [0, 1, 1, 2].get(kind as usize / 1000).copied().unwrap_or(0);
        Ok(if kind < 4000 { kind % 1000 } else { kind })
    }

    /// How many things follow that have at least `least` bytes each.
    fn count(&mut self, least: usize) -> Result<usize, String> {
        let count = self.u32()? as usize;
        match count <= self.bytes.len() / least {
            true => Ok(count),
            false => Err("WKB is cut off".into()),
        }
    }

    fn coord(&mut self) -> Result<Coord, String> {
        let (lon, lat) = (self.f64()?, self.f64()?);
        for _ in 2..self.dimensions {
            self.f64()?;
        }
        lon_lat(lon, lat)
    }

    fn polygon(&mut self) -> Result<Vec<Vec<Coord>>, String> {
        let mut rings = Vec::new();
        for _ in 0..self.count(4)? {
            let mut ring = Vec::new();
            for _ in 0..self.count(16)? {
                ring.push(self.coord()?);
            }
            rings.push(closed(ring).ok_or(FEW_POINTS)?);
        }
        Ok(rings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A square with a hole, with heights, big-endian, as another program might write it.
    fn square() -> Vec<u8> {
        let mut out = vec![0];
        out.extend_from_slice(&1003u32.to_be_bytes());
        out.extend_from_slice(&2u32.to_be_bytes());
        for half in [2.0, 1.0] {
            out.extend_from_slice(&5u32.to_be_bytes());
            for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0)] {
                for number in [10.0 + half * x, 50.0 + half * y, 7.0f64] {
                    out.extend_from_slice(&number.to_be_bytes());
                }
            }
        }
        out
    }

    #[test]
    fn points_come_back_and_areas_keep_their_holes() {
        let at = Coord::new(41.9, 12.5).unwrap();
        assert_eq!(shape(&point(at)), Ok(Shape::Point(at)));
        let Ok(Shape::Area(polygon)) = shape(&square()) else { panic!("no area") };
        assert_eq!(polygon.centroid(), Some(Coord::new(50.0, 10.0).unwrap()));
        assert!(!polygon.contains(Coord::new(50.0, 10.0).unwrap()));
        assert!(polygon.contains(Coord::new(51.5, 10.0).unwrap()));
    }

    #[test]
    fn whatever_is_cut_off_foreign_or_huge_is_refused() {
        let good = square();
        for cut in 0..good.len() {
            assert!(shape(&good[..cut]).is_err(), "cut at {cut}");
        }
        let mut many = good.clone();
        many[5..9].copy_from_slice(&u32::MAX.to_be_bytes());
        assert_eq!(shape(&many), Err("WKB is cut off".into()));
        assert!(shape(&[good, vec![0]].concat()).is_err());
        let mut nan = point(Coord::new(1.0, 2.0).unwrap());
        nan[5..13].copy_from_slice(&f64::NAN.to_le_bytes());
        assert!(shape(&nan).unwrap_err().contains("lon"));
        // Latitude first, of a place east of 90 degrees.
        let mut swapped = point(Coord::new(1.0, 2.0).unwrap());
        swapped[13..].copy_from_slice(&139.7f64.to_le_bytes());
        assert!(shape(&swapped).unwrap_err().contains("swapped"));
    }
}
