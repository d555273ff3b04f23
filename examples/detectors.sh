rtolab run stall -s newreno -s sack -s sack+dsack -s sack+eifel -s sack+frto -s linux \
    --runs 20 --out out/detectors
rtolab plot out/detectors --kind boxes --measure unneeded --out detectors.svg
