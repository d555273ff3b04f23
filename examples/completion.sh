rtolab run frto2002-delays -s newreno -s sack+frto -s sack+eifel --runs 100 --out out/delays
rtolab plot out/delays --kind cdf --out completion.svg
